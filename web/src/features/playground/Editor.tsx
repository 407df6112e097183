// The editor of the shader's text: CodeMirror with WGSL's colours, and the compiler's messages in the gutter and under the words.
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentUnit } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react';
import type { CompileMessage } from '../../engine/labMessages';
import { wgsl } from './wgslLanguage';

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '13.5px', backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono, monospace)', lineHeight: '1.55', overscrollBehavior: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '12px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-soft)', border: 'none', paddingLeft: '4px' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 6px', minWidth: '32px' },
  '.cm-gutter-lint': { width: '14px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '6px 0 0 2px' },
  '.cm-lint-marker': { width: '9px', height: '9px', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: 'normal', backgroundColor: 'var(--madder)' },
  '.cm-lint-marker-warning, .cm-lint-marker-info': { content: 'normal', backgroundColor: 'var(--weld)' },
  '.cm-activeLine': { backgroundColor: 'var(--code-line)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--code-selection)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--code-selection)', outline: '1px solid var(--line)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '4px', maxWidth: '32rem' },
  '.cm-diagnostic': { fontFamily: 'var(--font-mono, monospace)', fontSize: '12.5px', padding: '4px 10px' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--madder)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--weld)' },
});

/**
 * Returns the range of a message in the text. WebGPU counts lines and columns from 1, and may name a place that the text no longer has.
 */
function placeOf(doc: Text, message: CompileMessage): { from: number; to: number } {
  const line = doc.line(Math.min(Math.max(1, message.line), doc.lines));
  const from = Math.min(line.from + Math.max(0, message.column - 1), line.to);
  const word = /^[\p{XID_Start}_][\p{XID_Continue}]*|^[0-9.]+|^\S/u.exec(doc.sliceString(from, line.to));
  return { from, to: Math.min(line.to, from + (word?.[0].length ?? 0)) };
}

export type EditorHandle = { goTo(line: number, column: number): void };

type Props = {
  readonly text: string;
  readonly messages: readonly CompileMessage[];
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly handle?: Ref<EditorHandle>;
};

export function Editor({ text, messages, onChange, onRun, handle }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const calls = useRef({ onChange, onRun });
  useEffect(() => {
    calls.current = { onChange, onRun };
  }, [onChange, onRun]);

  const first = useRef(text);
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          indentUnit.of('  '),
          EditorState.tabSize.of(2),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                calls.current.onRun();
                return true;
              },
            },
            // Escape and then Tab leaves the editor, which is CodeMirror's own way for keyboard users.
            indentWithTab,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          wgsl,
          theme,
          EditorView.contentAttributes.of({ 'aria-label': 'Shader in WGSL', tabindex: '0', spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) calls.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const diagnostics = messages
      .filter((message) => message.line > 0)
      .map((message): Diagnostic => ({ ...placeOf(editor.state.doc, message), severity: message.kind, message: `${message.line}:${message.column} ${message.text}` }));
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [messages]);

  useImperativeHandle(handle, () => ({
    goTo: (line, column) => {
      const editor = view.current;
      if (editor === null) return;
      const { from } = placeOf(editor.state.doc, { kind: 'info', line, column, text: '' });
      editor.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      editor.focus();
    },
  }));

  return <div ref={place} className="h-full min-h-0" data-testid="editor" />;
}
