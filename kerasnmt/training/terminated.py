"""The end of a training that the system asks for."""


class Terminated(KeyboardInterrupt):
    """What SIGTERM raises in a training, as SIGINT raises `KeyboardInterrupt`."""
