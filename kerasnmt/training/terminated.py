"""The end of a training that the system asks for."""


class Terminated(KeyboardInterrupt):
    """Raised in a training at SIGTERM, as `KeyboardInterrupt` is at SIGINT."""
