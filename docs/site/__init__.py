"""The documentation as a site: ``make docs`` builds it into ``build/manual/site``.

============  ==============================================================================
`pages`       the pages of ``docs/`` and of the repository, with links that lead within the site
`reference`   the pages that are written from the code
`links`       what must hold in the built site: every link leads somewhere, nothing is loaded
              from elsewhere
============  ==============================================================================

`harness.base.manual.SITE` is the one setting for its address.
"""
