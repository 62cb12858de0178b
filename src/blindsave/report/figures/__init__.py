"""Pictures of the report: each panel is a function that draws into a (sub)figure; `panels` lists them all."""
