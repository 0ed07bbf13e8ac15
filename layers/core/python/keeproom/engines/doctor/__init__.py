"""`keeproom doctor`: connects to a vault as an app does, and says which step fails and why."""
