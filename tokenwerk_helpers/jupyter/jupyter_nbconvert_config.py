"""nbconvert shows the pictures of live views and their sentences; the package brings this to etc/jupyter."""

c = get_config()  # noqa: F821
c.HTMLExporter.preprocessors.append("tokenwerk_helpers.jupyter.stills.Stills")
