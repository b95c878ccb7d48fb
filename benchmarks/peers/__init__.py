"""The peers: other ways of computing what polymat computes, one module a library.

Modules here that name a library run in a worker, in the peers' environment where polymat is not installed;
`table` names them all.
"""
