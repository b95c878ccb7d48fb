"""The only package that imports islpy: exact sets and maps with named dimensions."""

from polymat.poly.access import Access
from polymat.poly.domain import Domain, IslError

__all__ = ["Access", "Domain", "IslError"]
