/**
 * What optimisers share: the learning rate, the count of steps, the tensors of their state, and
 * the choice between one parameter at a time (CPU) and all at once (CUDA).
 *
 * With `capturable` the learning rate and the count of steps live in tensors on the parameters'
 * device, so that a step captured in a CUDA graph counts on, and obeys a new `learningRate`,
 * when it is replayed. A parameter without a gradient is left alone in that step.
 */
import { noGrad } from '../autograd.js';
import { full, tensor, zerosLike } from '../creation.js';
import { TorchError } from '../errors.js';
import { keep, scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import type { Device } from '../types.js';
import { foreach, perTensor } from './kernels.js';
import type { Factor, Kernels } from './kernels.js';

export interface OptimizerOptions {
  readonly learningRate: number;
  /** Keeps learning rate and step on the device, for CUDA graphs. */
  readonly capturable?: boolean;
}

/** Parameters that are updated together, with their gradients and state in the same order. */
export interface Batch<StateName extends string> {
  readonly parameters: readonly Tensor[];
  readonly gradients: readonly Tensor[];
  readonly state: State<StateName>;
}

/** The numbers of one step, as numbers or, with `capturable`, as tensors on the device. */
export interface StepScalars {
  readonly isFirst: boolean;
  readonly rate: Factor;
  readonly step: Factor;
  /** A function of learning rate and step number, made of the operations both have. */
  factor(compute: <T>(ops: ScalarOps<T>, learningRate: T, step: T) => T): Factor;
}

/** Arithmetic common to numbers and tensors. */
export interface ScalarOps<T> {
  /** a x + b */
  affine(x: T, a: number, b: number): T;
  mul(x: T, y: T): T;
  div(x: T, y: T): T;
  sqrt(x: T): T;
  /** 1 - beta^x */
  oneMinusPower(beta: number, x: T): T;
}

const numberOps: ScalarOps<number> = {
  affine: (x, a, b) => a * x + b,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  sqrt: Math.sqrt,
  oneMinusPower: (beta, x) => 1 - beta ** x,
};

const tensorOps: ScalarOps<Tensor> = {
  affine: (x, a, b) => x.mul(a).add(b),
  mul: (x, y) => x.mul(y),
  div: (x, y) => x.div(y),
  sqrt: (x) => x.sqrt(),
  oneMinusPower: (beta, x) => x.mul(Math.log(beta)).expm1().neg(), // exact for small x in f32
};

/** Base of all optimisers. */
export abstract class Optimizer<StateName extends string = string> {
  readonly parameters: readonly Tensor[];
  readonly #capturable: boolean;
  #learningRate: number;
  #step = 0;
  #state: Record<StateName, Tensor[]> | undefined;
  #groups: { readonly device: Device; readonly list: readonly Group<StateName>[] } | undefined;
  #deviceScalars: { readonly learningRate: Tensor; readonly step: Tensor } | undefined;

  /** State kept for each parameter, by PyTorch's names. */
  protected abstract readonly stateNames: readonly StateName[];

  constructor(parameters: Iterable<Tensor>, options: OptimizerOptions) {
    this.parameters = [...parameters];
    if (this.parameters.length === 0) throw new TorchError('optimizer', 'there are no parameters');
    if (new Set(this.parameters).size !== this.parameters.length) {
      throw new TorchError('optimizer', 'a parameter is given twice');
    }
    checkAtLeast('learningRate', options.learningRate, 0);
    this.#learningRate = options.learningRate;
    this.#capturable = options.capturable ?? false;
  }

  get learningRate(): number {
    return this.#learningRate;
  }

  set learningRate(value: number) {
    checkAtLeast('learningRate', value, 0);
    if (value === this.#learningRate) return;
    this.#learningRate = value;
    this.#deviceScalars?.learningRate.fill_(value);
  }

  /** Steps taken; replays of a captured graph count on the device alone. */
  get stepCount(): number {
    return this.#deviceScalars === undefined
      ? this.#step
      : Math.round(this.#deviceScalars.step.item());
  }

  /** Forgets the gradients, or fills them with zeros where a graph holds on to their memory. */
  zeroGrad({ setToNone = true } = {}): void {
    for (const parameter of this.parameters) {
      if (setToNone) parameter.grad = null;
      else scope(() => void parameter.grad?.zero_());
    }
  }

  /** Changes every parameter that has a gradient. */
  step(): void {
    noGrad(() =>
      scope(() => {
        const groups = this.#ensureGroups();
        const scalars = this.#nextScalars();
        for (const group of groups) {
          scope(() => {
            const batch = withGradients(group);
            if (batch === undefined) return;
            if (group.kernels === perTensor) this.#updateOnCpu(batch, scalars);
            else this.update(group.kernels, batch, scalars);
          });
        }
      }),
    );
  }

  /** A large tensor slice by slice: what one operation leaves, the next finds in the processor's cache. */
  #updateOnCpu(batch: Batch<StateName>, scalars: StepScalars): void {
    const slices = slicesOf(batch);
    if (slices === null) this.update(perTensor, batch, scalars);
    else for (const slice of slices) scope(() => this.update(perTensor, slice(), scalars));
  }

  /** The rule of this optimiser for one batch; runs without recording gradients, in a scope. */
  protected abstract update(kernels: Kernels, batch: Batch<StateName>, scalars: StepScalars): void;

  /**
   * All that a checkpoint must hold besides the parameters: `step` and, once there was a step,
   * `<index>.<state name>` for every parameter. The state's tensors are live, `step` is a copy.
   */
  stateTensors(): Map<string, Tensor> {
    const step = tensor(this.stepCount, { dtype: 'i64' });
    return new Map([
      ['step', step],
      ...(this.#state === undefined ? [] : this.#named(this.#state)),
    ]);
  }

  #named(state: Record<StateName, Tensor[]>): [string, Tensor][] {
    return [...this.parameters.keys()].flatMap((index) =>
      this.stateNames.map((name): [string, Tensor] => [`${index}.${name}`, state[name][index]]),
    );
  }

  /** Takes over what `stateTensors` gave, in place, after checking that all of it fits. */
  loadStateTensors(tensors: ReadonlyMap<string, Tensor>): void {
    const step = tensors.get('step')?.item();
    if (step === undefined) throw new TorchError('loadStateTensors', 'step is missing');
    const copies =
      step === 0
        ? []
        : this.#named(this.#ensureState()).map(([name, own]) => [own, fitting(tensors, name, own)]);
    noGrad(() => {
      for (const [own, given] of copies) own.copy_(given);
      if (step === 0 && this.#state !== undefined) {
        for (const [, own] of this.#named(this.#state)) own.zero_();
      }
      this.#step = step;
      this.#deviceScalars?.step.fill_(step);
    });
  }

  /** Frees the state. */
  dispose(): void {
    const held = [this.#state ?? {}, this.#deviceScalars ?? {}].flatMap((each) =>
      Object.values<Tensor | Tensor[]>(each).flat(),
    );
    for (const each of held) each.dispose();
    this.#state = undefined;
    this.#groups = undefined;
    this.#deviceScalars = undefined;
  }

  #ensureState(): Record<StateName, Tensor[]> {
    this.#state ??= Object.fromEntries(
      this.stateNames.map((name) => [name, this.parameters.map((p) => keep(zerosLike(p)))]),
    ) as Record<StateName, Tensor[]>;
    return this.#state;
  }

  /**
   * On the CPU every parameter by itself, else all together. Where the parameters are is asked
   * of the first alone: a wrong guess for others costs time, not correctness. State follows
   * parameters that were moved to another device.
   */
  #ensureGroups(): readonly Group<StateName>[] {
    const { device } = this.parameters[0];
    if (this.#groups?.device === device) return this.#groups.list;
    const state = this.#ensureState();
    for (const tensors of Object.values<Tensor[]>(state)) {
      tensors.forEach((held, i) => held.setData(held.to({ device: this.parameters[i].device })));
    }
    const list =
      device === 'cpu'
        ? this.parameters.map((parameter, i) => ({
            kernels: perTensor,
            parameters: [parameter],
            state: mapState(state, (tensors) => [tensors[i]]),
          }))
        : [{ kernels: foreach, parameters: this.parameters, state }];
    this.#groups = { device, list };
    return list;
  }

  #nextScalars(): StepScalars {
    this.#step += 1;
    const isFirst = this.#step === 1;
    if (!this.#capturable) {
      const [rate, step] = [this.#learningRate, this.#step];
      return { isFirst, rate, step, factor: (compute) => compute(numberOps, rate, step) };
    }
    const device = this.parameters[0].device;
    this.#deviceScalars ??= {
      learningRate: keep(full([], this.#learningRate, { device })),
      step: keep(full([], this.#step - 1, { device })),
    };
    const { learningRate: rate, step } = this.#deviceScalars;
    step.add_(1);
    return { isFirst, rate, step, factor: (compute) => compute(tensorOps, rate, step) };
  }
}

/** Parameters that are updated by one call, with their state. */
interface Group<StateName extends string> {
  readonly kernels: Kernels;
  readonly parameters: readonly Tensor[];
  readonly state: State<StateName>;
}

type State<StateName extends string> = Readonly<Record<StateName, readonly Tensor[]>>;

/** The same state with other lists of tensors. */
function mapState<StateName extends string>(
  state: State<StateName>,
  change: (tensors: readonly Tensor[]) => Tensor[],
): State<StateName> {
  const changed = Object.entries<readonly Tensor[]>(state).map(([name, tensors]) => [
    name,
    change(tensors),
  ]);
  return Object.fromEntries(changed) as State<StateName>;
}

/** Those of a group that have a gradient; undefined if none has. */
function withGradients<StateName extends string>({
  parameters,
  state,
}: Group<StateName>): Batch<StateName> | undefined {
  const all = parameters.map((parameter) => parameter.grad);
  const gradients = all.filter((gradient) => gradient !== null);
  if (gradients.length === 0) return undefined;
  if (gradients.length === all.length) return { parameters, gradients, state };
  const chosen = (tensors: readonly Tensor[]): Tensor[] =>
    tensors.filter((_, i) => all[i] !== null);
  return { parameters: chosen(parameters), gradients, state: mapState(state, chosen) };
}

/** Elements of one slice; a multiple of any vector register, so that slicing changes no result. */
const SLICE = 1 << 19;
/** Elements from which slices pay: a tensor far larger than any cache. */
const SLICED_FROM = 1 << 23;

/**
 * The slices of a batch of one large tensor, each made when it is called; null where it is small, or not
 * dense in memory. Every optimiser's rule is element by element, so slices can be updated on their own.
 */
function slicesOf<StateName extends string>({
  parameters,
  gradients,
  state,
}: Batch<StateName>): (() => Batch<StateName>)[] | null {
  const count = parameters[0].numel;
  if (parameters.length !== 1 || count < SLICED_FROM) return null;
  const all = [...parameters, ...gradients, ...Object.values<readonly Tensor[]>(state).flat()];
  if (!all.every((one) => one.isContiguous())) return null;
  return Array.from({ length: Math.ceil(count / SLICE) }, (_, index) => () => {
    const start = index * SLICE;
    const cut = (tensors: readonly Tensor[]): Tensor[] =>
      tensors.map((one) => one.reshape([count]).narrow(0, start, Math.min(SLICE, count - start)));
    return { parameters: cut(parameters), gradients: cut(gradients), state: mapState(state, cut) };
  });
}

/** The tensor of that name, which must have the shape of `own`. */
function fitting(tensors: ReadonlyMap<string, Tensor>, name: string, own: Tensor): Tensor {
  const given = tensors.get(name);
  if (given === undefined) throw new TorchError('loadStateTensors', `${name} is missing`);
  const [found, expected] = [given.shape.join(', '), own.shape.join(', ')];
  if (found === expected) return given;
  throw new TorchError('loadStateTensors', `${name} has shape [${found}], expected [${expected}]`);
}

/**
 * parameters -= rate * direction. With the rate on the device one more pass is needed, because
 * libtorch's `alpha` is a number.
 */
export function descend(
  kernels: Kernels,
  parameters: readonly Tensor[],
  direction: readonly Tensor[],
  rate: Factor,
): void {
  if (typeof rate === 'number') kernels.addInPlace(parameters, direction, -rate);
  else kernels.addInPlace(parameters, kernels.scale(direction, rate), -1);
}

/** parameters -= rate * numerator / denominator; may change the denominator. */
export function descendQuotient(
  kernels: Kernels,
  parameters: readonly Tensor[],
  numerator: readonly Tensor[],
  denominator: readonly Tensor[],
  rate: Factor,
): void {
  if (typeof rate === 'number') {
    kernels.addcdivInPlace(parameters, numerator, denominator, -rate);
  } else {
    kernels.scaleInPlace(denominator, rate.reciprocal());
    kernels.addcdivInPlace(parameters, numerator, denominator, -1);
  }
}

/** Refuses a hyperparameter below its bound, or not a number. */
export function checkAtLeast(name: string, value: number, bound: number): void {
  if (!(value >= bound)) {
    throw new TorchError('optimizer', `${name} = ${value}: expected at least ${bound}`);
  }
}
