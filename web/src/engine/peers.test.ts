// Tests signals that arrive early: before this page was told of their chain, or while it still has an earlier epoch of the chain.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { LineNews } from './messages';
import { peerBounds, Peers, type PeerBounds } from './peers';

const { candidatesMax, earlyOfOneMax, linesMax, signalCharactersMax } = peerBounds;

/** A fake of the part of a connection that Peers uses; it records the calls. */
class FakeConnection {
  static made: FakeConnection[] = [];
  remoteDescription: RTCSessionDescriptionInit | null = null;
  localDescription: { type: string; toJSON(): RTCSessionDescriptionInit } | null = null;
  readonly candidates: RTCIceCandidateInit[] = [];
  closed = false;
  onicecandidate: unknown = null;
  ondatachannel: unknown = null;

  constructor(readonly configuration: RTCConfiguration) {
    FakeConnection.made.push(this);
  }
  createDataChannel() {
    return {};
  }
  async setLocalDescription() {
    const type = this.remoteDescription === null ? 'offer' : 'answer';
    this.localDescription = { type, toJSON: () => ({ type: type as RTCSdpType, sdp: 'ours' }) };
  }
  async setRemoteDescription(description: RTCSessionDescriptionInit) {
    this.remoteDescription = description;
  }
  async addIceCandidate(candidate: RTCIceCandidateInit) {
    expect(this.remoteDescription).not.toBeNull();
    this.candidates.push(candidate);
  }
  close() {
    this.closed = true;
  }
}

const offer = JSON.stringify({ description: { type: 'offer', sdp: 'theirs' } });
const candidate = JSON.stringify({ candidate: { candidate: 'here' } });

describe('lines to other tabs', () => {
  let said: LineNews[];
  let peers: Peers;
  let relayOnly: boolean;
  /** Makes Peers with some bounds changed. */
  const without = (off: Partial<PeerBounds>) => new Peers({ say: (news) => said.push(news), relayOnly: () => relayOnly, bounds: { ...peerBounds, ...off } });
  const answers = () => said.filter((news) => news.type === 'signal' && (JSON.parse(news.text) as { description?: { type: string } }).description?.type === 'answer');
  beforeEach(() => {
    FakeConnection.made = [];
    vi.stubGlobal('RTCPeerConnection', FakeConnection);
    said = [];
    relayOnly = false;
    peers = without({});
    return () => vi.unstubAllGlobals();
  });
  const signals = async (chain: number, epoch: number) => {
    await peers.take({ type: 'signal', chain, epoch, from: 0, text: offer });
    await peers.take({ type: 'signal', chain, epoch, from: 0, text: candidate });
  };
  const open = (chain: number, epoch: number) => peers.take({ type: 'open', chain, epoch, index: 1, members: [0], iceServers: [] });

  it('answers a call that comes after the chain', async () => {
    await open(7, 1);
    await signals(7, 1);
    expect(answers()).toHaveLength(1);
    expect(FakeConnection.made[0]?.candidates).toHaveLength(1);
  });

  it('answers a call that comes before the chain', async () => {
    await signals(7, 1);
    await open(7, 1);
    expect(answers()).toHaveLength(1);
    expect(FakeConnection.made[0]?.candidates).toHaveLength(1);
  });

  it.each(['before the earlier epoch is closed', 'after it'])('answers a call for the next epoch that comes %s', async (when) => {
    await open(7, 1);
    await signals(7, 1);
    if (when === 'after it') await peers.take({ type: 'close', chain: 7 });
    await signals(7, 3);
    if (when !== 'after it') await peers.take({ type: 'close', chain: 7 });
    await open(7, 3);
    expect(answers()).toHaveLength(2);
    expect(FakeConnection.made[0]?.closed).toBe(true);
    expect(FakeConnection.made[1]?.candidates).toHaveLength(1);
  });

  it('knows no call of an earlier epoch', async () => {
    await open(7, 3);
    await signals(7, 1);
    await signals(8, 1);
    expect(answers()).toHaveLength(0);
  });

  it('keeps the latest of more calls than it can keep', async () => {
    for (let chain = 100; chain < 500; ++chain) await signals(chain, 1);
    await open(499, 1);
    expect(answers()).toHaveLength(1);
  });

  it('takes so many candidates of one member', async () => {
    await open(7, 1);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    for (let i = 0; i < 10 * candidatesMax; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: candidate });
    expect(FakeConnection.made[0]?.candidates).toHaveLength(candidatesMax);
  });

  it('and so many that come before its call', async () => {
    await open(7, 1);
    for (let i = 0; i < 10 * candidatesMax; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: candidate });
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    expect(FakeConnection.made[0]?.candidates).toHaveLength(candidatesMax);
  });

  it('a member that floods before the chain puts out its own signals only', async () => {
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    for (let i = 0; i < 1000; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 2, text: candidate });
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 2, text: offer });
    await open(7, 1);
    expect(answers()).toHaveLength(1);
  });

  it('and keeps what a browser sends before the chain', async () => {
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    for (let i = 0; i < 1000; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: candidate });
    await open(7, 1);
    expect(FakeConnection.made[0]?.candidates).toHaveLength(Math.min(candidatesMax, earlyOfOneMax - 1));
  });

  it('reads no signal that is longer than a browser makes', async () => {
    await open(7, 1);
    const long = (size: number) => JSON.stringify({ description: { type: 'offer', sdp: '' } }).replace('""', `"${'x'.repeat(size)}"`);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: long(signalCharactersMax) });
    expect(answers()).toHaveLength(0);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: long(signalCharactersMax / 2) });
    expect(answers()).toHaveLength(1);
  });

  it('makes so many lines for one chain, to its nearest members', async () => {
    const members = Array.from({ length: 1000 }, (_, member) => member).filter((member) => member !== 500);
    await peers.take({ type: 'open', chain: 7, epoch: 1, index: 500, members, iceServers: [] });
    expect(FakeConnection.made).toHaveLength(linesMax);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 499, text: offer });
    expect(answers()).toHaveLength(1);
  });

  it('without their bounds take all that members send: the attacks', async () => {
    peers = without({ candidatesMax: Infinity });
    await open(7, 1);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    for (let i = 0; i < 10 * candidatesMax; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: candidate });
    expect(FakeConnection.made.at(-1)?.candidates).toHaveLength(10 * candidatesMax);

    peers = without({ linesMax: Infinity });
    await peers.take({ type: 'open', chain: 7, epoch: 1, index: 0, members: Array.from({ length: 999 }, (_, i) => i + 1), iceServers: [] });
    expect(FakeConnection.made).toHaveLength(1000);

    said = [];
    peers = without({ signalCharactersMax: Infinity });
    await open(7, 1);
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: JSON.stringify({ description: { type: 'offer', sdp: 'x'.repeat(1e6) } }) });
    expect(answers()).toHaveLength(1);

    said = [];
    peers = without({ earlyOfOneMax: Infinity });
    await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 0, text: offer });
    for (let i = 0; i < 1000; ++i) await peers.take({ type: 'signal', chain: 7, epoch: 1, from: 2, text: candidate });
    await open(7, 1);
    expect(answers()).toHaveLength(0);
  });

  it.each([
    [false, 'all'],
    [true, 'relay'],
  ])('asks for relays alone: %s', async (chosen, policy) => {
    relayOnly = chosen;
    await open(7, 1);
    expect(FakeConnection.made[0]?.configuration.iceTransportPolicy).toBe(policy);
  });
});
