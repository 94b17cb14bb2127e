from .page_cache import keep_page as keep_page
from .page_cache import kept_page as kept_page
from .server import serve as serve
from .settings import Settings as Settings
