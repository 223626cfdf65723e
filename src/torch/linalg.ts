/** Products of matrices and linear algebra, as methods and, for more than one tensor, as functions. */
import { optionsFor } from './handle.js';
import { operator } from './dispatch.js';
import { ShapedTensor } from './shape.js';
import type { Tensor } from './tensor.js';

const matmulOp = operator('matmul');
const mmOp = operator('mm');
const bmmOp = operator('bmm');
const addmmOp = operator('addmm');
const baddbmmOp = operator('baddbmm');
const einsumOp = operator('einsum');
const choleskyOp = operator('linalg_cholesky', '', 'cholesky');
const logdetOp = operator('logdet');
const slogdetOp = operator('linalg_slogdet', '', 'slogdet');
const detOp = operator('linalg_det', '', 'det');
const inverseOp = operator('linalg_inv', '', 'inverse');
const solveOp = operator('linalg_solve', '', 'solve');
const solveTriangularOp = operator('linalg_solve_triangular', '', 'solveTriangular');
const eighOp = operator('linalg_eigh', '', 'eigh');
const svdOp = operator('linalg_svd', '', 'svd');
const qrOp = operator('linalg_qr', '', 'qr');

export class LinearTensor extends ShapedTensor {
  /** Matrix product, with broadcasting of the leading dimensions. */
  matmul(other: Tensor): Tensor {
    return matmulOp.tensor(this, other);
  }
  /** [n, k] x [k, m] */
  mm(other: Tensor): Tensor {
    return mmOp.tensor(this, other);
  }
  /** [b, n, k] x [b, k, m] */
  bmm(other: Tensor): Tensor {
    return bmmOp.tensor(this, other);
  }
  /** The lower L with L L^T = this, which must be symmetric positive definite. */
  cholesky(): Tensor {
    return choleskyOp.tensor(this);
  }
  det(): Tensor {
    return detOp.tensor(this);
  }
  logdet(): Tensor {
    return logdetOp.tensor(this);
  }
  slogdet(): { sign: Tensor; logabsdet: Tensor } {
    const [sign, logabsdet] = slogdetOp.tensors(this);
    return { sign, logabsdet };
  }
  inverse(): Tensor {
    return inverseOp.tensor(this);
  }
  /** X with this X = B. */
  solve(b: Tensor): Tensor {
    return solveOp.tensor(this, b);
  }
  /** X with this X = B, this triangular. */
  solveTriangular(b: Tensor, upper: boolean): Tensor {
    return solveTriangularOp.tensor(this, b, upper);
  }
  /** Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix. */
  eigh(): { values: Tensor; vectors: Tensor } {
    const [values, vectors] = eighOp.tensors(this);
    return { values, vectors };
  }
  svd(fullMatrices = false): { u: Tensor; s: Tensor; vh: Tensor } {
    const [u, s, vh] = svdOp.tensors(this, fullMatrices);
    return { u, s, vh };
  }
  qr(): { q: Tensor; r: Tensor } {
    const [q, r] = qrOp.tensors(this);
    return { q, r };
  }
}

export interface ProductOptions {
  /** Factor of the added tensor. */
  beta?: number;
  /** Factor of the product. */
  alpha?: number;
}

export const matmul = (a: Tensor, b: Tensor): Tensor => matmulOp.tensor(a, b);

/** [b, n, k] x [b, k, m] -> [b, n, m] */
export const bmm = (a: Tensor, b: Tensor): Tensor => bmmOp.tensor(a, b);

/** beta input + alpha a b, of matrices. */
export function addmm(input: Tensor, a: Tensor, b: Tensor, options: ProductOptions = {}): Tensor {
  optionsFor('addmm', options);
  return addmmOp.tensor(input, a, b, options.beta, options.alpha);
}

/** beta input + alpha a b, of batches of matrices; input broadcasts to [b, n, m]. */
export function baddbmm(input: Tensor, a: Tensor, b: Tensor, options: ProductOptions = {}): Tensor {
  optionsFor('baddbmm', options);
  return baddbmmOp.tensor(input, a, b, options.beta, options.alpha);
}

/** Products and sums in Einstein's notation: `einsum('mnd,mde->mne', [x, w])`. */
export const einsum = (equation: string, tensors: readonly Tensor[]): Tensor =>
  einsumOp.tensor(equation, tensors);
