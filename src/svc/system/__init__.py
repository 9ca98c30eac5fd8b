"""What differs between operating systems; everything else asks here and not which one runs.

Linux is where this is tested. macOS has all that is asked for; where Windows lacks something, the
modules fall back on what it has.
"""
