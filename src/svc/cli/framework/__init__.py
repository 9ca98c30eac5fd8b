"""What the commands of `svc` share; no module here is a command itself.

Every word imports this folder, and it imports no word: `registry` names them and loads the one that
was typed. Begin with `session`, what one command line works with, then `app`, which makes a verb of
a function. A verb that writes goes through `sending` (show, ask, send, print) and `delivering` (the
journal), a question through `prompts`, a failure through `errors`.
"""
