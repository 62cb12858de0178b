"""Tables of the report, a module per section of the page; each registers itself (`blindsave.report.registry`)."""
