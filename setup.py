"""Only what pyproject.toml cannot say: an editable installation brings the data files, too."""

from setuptools import Distribution, setup


class WithData(Distribution):
    """setuptools asks for `has_data` before it adds data files to an editable wheel, and has forgotten it."""

    def has_data(self) -> bool:
        return self.has_data_files()


setup(distclass=WithData)
