"""The views: data that describes how objects of service, sandbox and this machine are shown."""
