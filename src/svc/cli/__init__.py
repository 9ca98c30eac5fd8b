"""The command line: parsing, asking, printing; every call goes through `svc.client`."""
