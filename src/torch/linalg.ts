/** Products of matrices and linear algebra, as methods and, for more than one tensor, as functions. */
import { aten } from './dispatch.js';
import { fn, fnWith, method, named } from './methods.js';
import type { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';

const svd = aten('linalg_svd', 'svd');

export const LINEAR = {
  /** Matrix product, with broadcasting of the leading dimensions. */
  matmul: method<[other: Tensor]>('matmul'),
  /** [n, k] x [k, m] */
  mm: method<[other: Tensor]>('mm'),
  /** [b, n, k] x [b, k, m] */
  bmm: method<[other: Tensor]>('bmm'),
  /** Kronecker's product. */
  kron: method<[other: Tensor]>('kron'),
  /** The lower L with L L^T = this, which must be symmetric positive definite. */
  cholesky: method('linalg_cholesky', 'cholesky'),
  /** X with L L^T X = this (or U^T U X, if `upper`), by the factor of `cholesky`. */
  choleskySolve: method<[factor: Tensor, upper?: boolean]>('cholesky_solve'),
  det: method('linalg_det', 'det'),
  logdet: method('logdet'),
  slogdet: named<[], 'sign' | 'logabsdet'>('linalg_slogdet', ['sign', 'logabsdet'], 'slogdet'),
  inverse: method('linalg_inv', 'inverse'),
  /** X with this X = B. */
  solve: method<[b: Tensor]>('linalg_solve', 'solve'),
  /** X with this X = B, this triangular. */
  solveTriangular: method<[b: Tensor, upper: boolean]>(
    'linalg_solve_triangular',
    'solveTriangular',
  ),
  /** Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix. */
  eigh: named<[], 'values' | 'vectors'>('linalg_eigh', ['values', 'vectors'], 'eigh'),
  svd(this: TensorBase, fullMatrices = false): { u: Tensor; s: Tensor; vh: Tensor } {
    const [u, s, vh] = svd.tensors(this, fullMatrices);
    return { u, s, vh };
  },
  qr: named<[], 'q' | 'r'>('linalg_qr', ['q', 'r'], 'qr'),
};

export interface ProductOptions {
  /** Factor of the added tensor. */
  beta?: number;
  /** Factor of the product. */
  alpha?: number;
}

export const matmul = fn<[a: Tensor, b: Tensor]>('matmul');

/** [b, n, k] x [b, k, m] -> [b, n, m] */
export const bmm = fn<[a: Tensor, b: Tensor]>('bmm');

type Sum = [input: Tensor, a: Tensor, b: Tensor, options?: ProductOptions];

/** beta input + alpha a b, of matrices. */
export const addmm = fnWith<Sum>('addmm', 3);

/** beta input + alpha a b, of batches of matrices; input broadcasts to [b, n, m]. */
export const baddbmm = fnWith<Sum>('baddbmm', 3);

/** Products and sums in Einstein's notation: `einsum('mnd,mde->mne', [x, w])`. */
export const einsum = fn<[equation: string, tensors: readonly Tensor[]]>('einsum');
