// WGSL for CodeMirror: a tokenizer by the lexical rules of the specification (W3C, WebGPU Shading Language, section 3). It only chooses
// colours; the browser's compiler finds the errors.
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from '@codemirror/language';
import { tags } from '@lezer/highlight';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const keywords = words(
  'alias break case const const_assert continue continuing default diagnostic discard else enable fn for if let loop override requires return struct switch var while',
);
const types = words(
  'bool f16 f32 i32 u32 vec2 vec3 vec4 vec2f vec3f vec4f vec2h vec3h vec4h vec2i vec3i vec4i vec2u vec3u vec4u mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 mat2x2f mat3x3f mat4x4f mat2x2h mat3x3h mat4x4h array atomic ptr texture_1d texture_2d texture_3d sampler',
);
const constants = words('true false function private workgroup uniform storage read write read_write handle');

type State = { depth: number };

const parser: StreamParser<State> = {
  name: 'wgsl',
  startState: () => ({ depth: 0 }),
  token: (stream, state) => {
    // Block comments can be nested.
    if (state.depth > 0 || stream.match('/*')) {
      if (state.depth === 0) state.depth = 1;
      while (!stream.eol()) {
        if (stream.match('/*')) state.depth += 1;
        else if (stream.match('*/')) {
          state.depth -= 1;
          if (state.depth === 0) break;
        } else stream.next();
      }
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^@\s*[\p{XID_Start}_][\p{XID_Continue}]*/u)) return 'attribute';
    if (stream.match(/^0[xX](?:[0-9a-fA-F]*\.?[0-9a-fA-F]+|[0-9a-fA-F]+\.)(?:[pP][+-]?[0-9]+[fh]?)?[iuf]?/)) return 'number';
    if (stream.match(/^(?:[0-9]*\.[0-9]+|[0-9]+\.?)(?:[eE][+-]?[0-9]+)?[iufh]?/)) return 'number';
    const word = stream.match(/^[\p{XID_Start}_][\p{XID_Continue}]*/u);
    if (word && word !== true) {
      const [name] = word;
      if (keywords.has(name)) return 'keyword';
      if (types.has(name)) return 'type';
      if (constants.has(name)) return 'atom';
      return stream.match(/^\s*\(/, false) ? 'function' : 'variable';
    }
    stream.next();
    return 'punctuation';
  },
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{'] } },
  tokenTable: { attribute: tags.meta, function: tags.function(tags.variableName), type: tags.typeName, variable: tags.variableName, atom: tags.atom },
};

/** The colours of the design's threads, which base.css defines for the light and the dark theme. */
const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.atom, color: 'var(--code-type)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.meta, color: 'var(--code-attribute)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
]);

export const wgsl = [StreamLanguage.define(parser), syntaxHighlighting(colours)];
