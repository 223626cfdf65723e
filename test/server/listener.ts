/** A page's ear: connects to the events of a training and waits for what it hopes to hear. */
import { request, type ClientRequest } from 'node:http';
import type { TrainEvents } from '../../src/protocol/index.js';

export type Heard = {
  [Name in keyof TrainEvents]: { readonly name: Name; readonly data: TrainEvents[Name] };
}[keyof TrainEvents];

export class Listener {
  readonly heard: Heard[] = [];
  #waiting: (() => void)[] = [];
  #ended = false;

  private constructor(readonly connection: ClientRequest) {}

  static connect(port: number): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const connection = request({ port, host: '127.0.0.1', path: '/api/training/events' });
      const listener = new Listener(connection);
      connection.on('error', reject);
      connection.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => (text = listener.#take(text + piece)));
        answer.on('error', () => {});
        answer.on('close', () => listener.#end());
        resolve(listener);
      });
      connection.end();
    });
  }

  /** Takes whole events; what is left of the text. */
  #take(text: string): string {
    const frames = text.split('\n\n');
    const rest = frames.pop() ?? '';
    for (const frame of frames) {
      const match = /^event: (\w+)\ndata: (.*)$/.exec(frame);
      if (match)
        this.heard.push({ name: match[1], data: JSON.parse(match[2]) as unknown } as Heard);
    }
    this.#wake();
    return rest;
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  all<Name extends keyof TrainEvents>(name: Name): TrainEvents[Name][] {
    return this.heard.flatMap((each) =>
      each.name === name ? [each.data as TrainEvents[Name]] : [],
    );
  }

  /** The first event of a name, heard from `from` on, that is right. */
  async until<Name extends keyof TrainEvents>(
    name: Name,
    isRight: (data: TrainEvents[Name]) => boolean = () => true,
    from = 0,
  ): Promise<TrainEvents[Name]> {
    for (;;) {
      const found = this.heard
        .slice(from)
        .find((each) => each.name === name && isRight(each.data as TrainEvents[Name]));
      if (found !== undefined) return found.data as TrainEvents[Name];
      if (this.#ended) throw new Error(`the events ended before ${name} came`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  close(): void {
    this.connection.destroy();
  }
}
