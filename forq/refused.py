class Refused(Exception):
    """A start that cannot go on; the text is one line for the person who can put it right."""
