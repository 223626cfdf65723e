/**
 * What every network is made of: a class whose fields are parameters, buffers and other modules.
 *
 * There are no decorators and no registration calls. A field that holds a `parameter(...)`, a
 * `buffer(...)`, a module, or a list or plain object of these belongs to the module's state; all
 * other fields are its own affair. State names follow PyTorch's: fields in snake case joined by
 * dots (`outProj.weight` is `out_proj.weight`), so that weights move between the two unchanged.
 *
 * Parameters outlive every `scope` they were made in, and keep their identity when the module is
 * moved to another device or type, so that an optimiser never loses them. `dispose()` frees them.
 */
import { TorchError } from '../errors.js';
import { keep, scope } from '../scope.js';
import { noGrad } from '../autograd.js';
import { Tensor } from '../tensor.js';
import type { Device, DType, MemoryFormat } from '../types.js';

declare const parameterBrand: unique symbol;
declare const bufferBrand: unique symbol;

/** A tensor that training changes; made by `parameter`. */
export type Parameter = Tensor & { readonly [parameterBrand]: true };

/** A tensor that belongs to a module's state but is not trained; made by `buffer`. */
export type Buffer = Tensor & { readonly [bufferBrand]: true };

const trained = new WeakSet<Tensor>();
/** Buffers, and whether they belong to `stateDict`. */
const isPersistent = new WeakMap<Tensor, boolean>();

/** Makes a tensor a parameter: it records gradients and survives scopes. */
export function parameter(tensor: Tensor): Parameter {
  trained.add(keep(tensor.requiresGrad_()));
  return tensor as Parameter;
}

/** Makes a tensor a buffer. One that is not persistent is left out of `stateDict`. */
export function buffer(tensor: Tensor, { persistent = true } = {}): Buffer {
  isPersistent.set(keep(tensor), persistent);
  return tensor as Buffer;
}

/** Where and in what type to hold a module; only floating tensors change their type. */
export interface Placement {
  readonly device?: Device;
  readonly dtype?: DType;
  /** Applied to 4-dimensional parameters and buffers: convolutions' weights. */
  readonly memoryFormat?: MemoryFormat;
}

/** What a module's fields hold of its state, by name, in the order of the fields. */
interface Members {
  readonly parameters: [string, Parameter][];
  readonly buffers: [string, Buffer][];
  readonly modules: [string, Module][];
}

/** Base of all modules. */
export abstract class Module {
  /** Whether layers that differ between training and use (norms, dropout) behave as in training. */
  training = true;

  /**
   * The fields that may hold state, with their names. A module whose parts carry names that are
   * not fields' (the layers of a `Sequential` are `0`, `1`, ...) overrides it.
   */
  stateFields(): Iterable<[string, unknown]> {
    return Object.entries(this);
  }

  /** Switches this module and all below it to training. */
  train(mode = true): this {
    for (const module of this.modules()) module.training = mode;
    return this;
  }

  /** Switches this module and all below it to use. */
  eval(): this {
    return this.train(false);
  }

  /** This module and all below it, each once, parents first. */
  modules(): Module[] {
    return [...this.namedModules().values()];
  }

  /** The same with dotted names; this module's is ''. */
  namedModules(): Map<string, Module> {
    const found = new Map<string, Module>();
    const seen = new Set<Module>();
    const visit = (prefix: string, module: Module): void => {
      if (seen.has(module)) return;
      seen.add(module);
      found.set(prefix, module);
      for (const [name, below] of membersOf(module).modules) visit(joined(prefix, name), below);
    };
    visit('', this);
    return found;
  }

  /** Every parameter once, under its first name, in the order of PyTorch. */
  namedParameters(): Map<string, Parameter> {
    return this.#named((members) => members.parameters);
  }

  parameters(): Parameter[] {
    return [...this.namedParameters().values()];
  }

  /** Every buffer once, under its first name, in the order of PyTorch. */
  namedBuffers(): Map<string, Buffer> {
    return this.#named((members) => members.buffers);
  }

  #named<T extends Tensor>(choose: (members: Members) => readonly [string, T][]): Map<string, T> {
    const found = new Map<T, string>();
    for (const [prefix, module] of this.namedModules()) {
      for (const [name, tensor] of choose(membersOf(module))) {
        if (!found.has(tensor)) found.set(tensor, joined(prefix, name));
      }
    }
    return new Map([...found].map(([tensor, name]) => [name, tensor]));
  }

  /**
   * All state by name, in PyTorch's order: the live tensors, not copies. A tensor or module that
   * is held twice appears under both names, as in PyTorch.
   */
  stateDict(): Map<string, Tensor> {
    const state = new Map<string, Tensor>();
    const visit = (prefix: string, module: Module): void => {
      const { parameters, buffers, modules } = membersOf(module);
      const persistent = buffers.filter(([, tensor]) => isPersistent.get(tensor));
      for (const [name, tensor] of [...parameters, ...persistent]) {
        state.set(joined(prefix, name), tensor);
      }
      for (const [name, below] of modules) visit(joined(prefix, name), below);
    };
    visit('', this);
    return state;
  }

  /**
   * Copies values into the module's own tensors, converting device and type. Everything is
   * checked before anything is changed. Without `strict`, names on one side only are passed over.
   */
  loadStateDict(state: ReadonlyMap<string, Tensor>, { strict = true } = {}): void {
    const own = this.stateDict();
    const problems: string[] = [];
    for (const [name, tensor] of own) {
      const given = state.get(name);
      if (given === undefined) {
        if (strict) problems.push(`${name} [${tensor.shape.join(', ')}] is missing`);
      } else if (!sameShape(given.shape, tensor.shape)) {
        problems.push(
          `${name} has shape [${given.shape.join(', ')}], expected [${tensor.shape.join(', ')}]`,
        );
      }
    }
    if (strict) {
      for (const name of state.keys()) if (!own.has(name)) problems.push(`${name} is not known`);
    }
    if (problems.length > 0) throw new TorchError('loadStateDict', listed(problems));
    noGrad(() => {
      for (const [name, tensor] of own) {
        const given = state.get(name);
        if (given !== undefined) tensor.copy_(given);
      }
    });
  }

  /** Moves all state to a device, type or memory layout; the tensors keep their identity. */
  to({ device, dtype, memoryFormat }: Placement): this {
    for (const tensor of [...this.parameters(), ...this.namedBuffers().values()]) {
      const type = tensor.isFloatingPoint ? dtype : undefined;
      const format = tensor.shape.length === 4 ? memoryFormat : undefined;
      replaceData(tensor, { device, dtype: type, memoryFormat: format });
    }
    return this;
  }

  /** Forgets all gradients. */
  zeroGrad(): void {
    for (const tensor of this.parameters()) tensor.grad = null;
  }

  /** Switches the recording of gradients for all parameters. */
  requiresGrad_(requires = true): this {
    for (const tensor of this.parameters()) tensor.requiresGrad_(requires);
    return this;
  }

  /** Number of trained values. */
  parameterCount(): number {
    return this.parameters().reduce((sum, tensor) => sum + tensor.numel, 0);
  }

  /** Frees all state. The module cannot be used afterwards. */
  dispose(): void {
    for (const tensor of [...this.parameters(), ...this.namedBuffers().values()]) tensor.dispose();
  }
}

function membersOf(module: Module): Members {
  const members: Members = { parameters: [], buffers: [], modules: [] };
  for (const [field, value] of module.stateFields()) collect(snakeCase(field), value, members);
  return members;
}

function collect(name: string, value: unknown, members: Members): void {
  if (value instanceof Tensor) {
    if (trained.has(value)) members.parameters.push([name, value as Parameter]);
    else if (isPersistent.has(value)) members.buffers.push([name, value as Buffer]);
  } else if (value instanceof Module) {
    members.modules.push([name, value]);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => collect(joined(name, String(index)), item, members));
  } else if (isPlainObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      collect(joined(name, snakeCase(key)), item, members);
    }
  }
}

/** Gives a tensor other memory; it stays the same object and, for gradients, the same leaf. */
function replaceData(tensor: Tensor, placement: Placement): void {
  scope(() => {
    const old = tensor.detach();
    const moved = old.to(placement);
    if (moved === old) return;
    const gradient = tensor.grad;
    if (gradient !== null) tensor.grad = null;
    tensor.setData(moved);
    if (gradient !== null) tensor.grad = gradient.to(placement);
  });
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** `weightIhL0` is `weight_ih_l0`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function joined(prefix: string, name: string): string {
  return prefix === '' ? name : name === '' ? prefix : `${prefix}.${name}`;
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

function listed(problems: readonly string[]): string {
  const shown = problems.slice(0, 5).join('; ');
  return problems.length > 5 ? `${shown}; and ${problems.length - 5} more` : shown;
}
