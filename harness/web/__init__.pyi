from .server import serve as serve
from .settings import Settings as Settings
