// Lines to other tabs over WebRTC. Workers have no RTCPeerConnection, so the page makes the connections and transfers their channels to the
// engine's Worker, in the same task in which each channel is created, because a channel that has been used cannot be transferred.
import type { LineNews, LinesOrder } from './messages';

type Line = {
  readonly connection: RTCPeerConnection;
  /** Candidates that arrived before their description. */
  readonly early: RTCIceCandidateInit[];
  /** The number of candidates that the other member sent, with the early ones. */
  candidates: number;
};
type Early = { readonly chain: number; readonly epoch: number; readonly from: number; readonly text: string };
type Chain = { readonly epoch: number; readonly lines: Map<number, Line> };
type Signal = { description?: RTCSessionDescriptionInit; candidate?: RTCIceCandidateInit };

const earlySignalsMax = 256;
/** The resources of this tab that other members may use. */
export type PeerBounds = {
  /** The number of early signals of one member of a chain, so that a member that sends many does not displace those of others. */
  readonly earlyOfOneMax: number;
  /** The number of characters of one signal; a browser's description has some thousand. */
  readonly signalCharactersMax: number;
  /** The number of members of one chain that this tab calls or answers; the members nearest to it come first. */
  readonly linesMax: number;
  /** The number of candidates of one member. A browser has about ten; each is an address that this tab calls. */
  readonly candidatesMax: number;
};
export const peerBounds: PeerBounds = { earlyOfOneMax: 40, signalCharactersMax: 16_384, linesMax: 64, candidatesMax: 32 };

export type PeersOptions = {
  readonly say: (news: LineNews, transfer: Transferable[]) => void;
  /** Asked for each new line. True: the line goes only through a TURN server, which hides this machine's address from other members. */
  readonly relayOnly: () => boolean;
  /** Tests give bounds other than peerBounds, to see what members could do without a bound. */
  readonly bounds?: PeerBounds;
};

export class Peers {
  readonly #options: PeersOptions;
  readonly #bounds: PeerBounds;
  readonly #chains = new Map<number, Chain>();
  /** Signals of members that were told of the chain before this tab was. */
  #early: Early[] = [];

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? peerBounds;
  }

  async take(order: LinesOrder): Promise<void> {
    switch (order.type) {
      case 'open':
        return this.#open(order);
      case 'signal':
        return this.#signal(order);
      case 'close':
        return this.#close(order.chain);
    }
  }

  closeAll(): void {
    for (const chain of [...this.#chains.keys()]) this.#close(chain);
    this.#early = [];
  }

  async #open({ chain, epoch, index, members, iceServers }: LinesOrder & { readonly type: 'open' }): Promise<void> {
    this.#close(chain);
    this.#early = this.#early.filter((signal) => signal.chain !== chain || signal.epoch >= epoch);
    const made: Chain = { epoch, lines: new Map() };
    this.#chains.set(chain, made);
    const calls: Promise<void>[] = [];
    const relayOnly = this.#options.relayOnly();
    const nearest = [...members].sort((a, b) => Math.abs(a - index) - Math.abs(b - index)).slice(0, this.#bounds.linesMax);
    for (const member of nearest) {
      const connection = new RTCPeerConnection({ iceServers: [...iceServers], iceTransportPolicy: relayOnly ? 'relay' : 'all' });
      made.lines.set(member, { connection, early: [], candidates: 0 });
      const hand = (channel: RTCDataChannel) => this.#options.say({ type: 'channel', chain, epoch, member, channel }, [channel as unknown as Transferable]);
      const say = (signal: Signal) => this.#options.say({ type: 'signal', chain, epoch, member, text: JSON.stringify(signal) }, []);
      connection.onicecandidate = ({ candidate }) => {
        if (candidate !== null) say({ candidate: candidate.toJSON() });
      };
      connection.ondatachannel = ({ channel }) => hand(channel);
      if (index > member) continue;
      hand(connection.createDataChannel('hops', { ordered: true }));
      calls.push(
        connection.setLocalDescription().then(() => {
          if (connection.localDescription !== null) say({ description: connection.localDescription.toJSON() as RTCSessionDescriptionInit });
        }),
      );
    }
    const early = this.#early;
    this.#early = [];
    for (const signal of early) await this.#signal(signal);
    await Promise.allSettled(calls);
  }

  async #signal({ chain, epoch, from, text }: { chain: number; epoch: number; from: number; text: string }): Promise<void> {
    if (text.length > this.#bounds.signalCharactersMax) return;
    const known = this.#chains.get(chain);
    if (known === undefined || known.epoch < epoch || !known.lines.has(from)) {
      this.#keep({ chain, epoch, from, text });
      return;
    }
    const line = known.lines.get(from);
    if (known.epoch !== epoch || line === undefined) return;
    const { connection } = line;
    try {
      const { description, candidate } = JSON.parse(text) as Signal;
      if (description !== undefined) {
        await connection.setRemoteDescription(description);
        for (const waiting of line.early.splice(0)) await connection.addIceCandidate(waiting);
        if (description.type === 'offer') {
          await connection.setLocalDescription();
          if (connection.localDescription !== null) {
            const answer: Signal = { description: connection.localDescription.toJSON() as RTCSessionDescriptionInit };
            this.#options.say({ type: 'signal', chain, epoch, member: from, text: JSON.stringify(answer) }, []);
          }
        }
      }
      if (candidate !== undefined && ++line.candidates <= this.#bounds.candidatesMax) {
        if (connection.remoteDescription === null) line.early.push(candidate);
        else await connection.addIceCandidate(candidate);
      }
    } catch {
      // A wrong signal is ignored; without a line the coordinator relays.
    }
  }

  // Keeps an early signal. The first signals of a member are its call and its addresses; signals
  // beyond the number that a browser sends are dropped.
  #keep(signal: Early): void {
    const { chain, epoch, from } = signal;
    const ofOne = this.#early.filter((other) => other.chain === chain && other.epoch === epoch && other.from === from);
    if (ofOne.length >= this.#bounds.earlyOfOneMax) return;
    this.#early.push(signal);
    if (this.#early.length > earlySignalsMax) this.#early.shift(); // The oldest may belong to a chain that was never formed.
  }

  // Closes a chain. Signals of a later epoch are kept, because its other members may have been told of it before this tab.
  #close(chain: number): void {
    const known = this.#chains.get(chain);
    this.#chains.delete(chain);
    for (const { connection } of known?.lines.values() ?? []) connection.close();
  }
}
