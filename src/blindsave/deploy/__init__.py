"""Export: a policy as one C header, or as an ONNX graph."""

from blindsave.deploy.c_header import export_c
from blindsave.deploy.onnx_graph import export_onnx

__all__ = ["export_c", "export_onnx"]
