"""One memory store over any sorted table with conditional transactions.

`table` is all a place must offer; `layout` says where things lie; `store` is the port's face.
"""
