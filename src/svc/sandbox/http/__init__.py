"""One HTTP exchange of the sandbox: reads the request, checks who sends it, writes the answer.

`api`, `control` and `checkout` share it. Begin with `exchange`; `auth` has the checks of keys and
of web pages, `routes` the table of paths.
"""
