"""The documented API as an OpenAPI document, made from the tables that the sandbox checks with."""
