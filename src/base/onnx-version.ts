/** The one version of ONNX that our networks are written in, and that the solver takes. */

/** Of the file format. */
export const ONNX_IR_VERSION = 8;
/** Of the operators. */
export const ONNX_OPSET = 17;
