"""The views: data that describes how objects of service, sandbox and this machine are shown.

`human.columns` looks up the view of an object by its kind; `model` has the types, and `service`,
`sandbox` and `local` the views.
"""
