"""What each kind of export promises to its clients."""
