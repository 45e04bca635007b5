/**
 * The editor of definitions: CodeMirror inside a shadow root. There its styles are adopted style sheets, which the content
 * security policy allows without a nonce.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  type Tooltip,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Schemas } from "../api/client.ts";
import { words } from "../words.ts";
import { standingPlaceAt, writingPlaceAt } from "./definition-text.ts";
import { type JsonSchema, keysAt, meaningAt, wordsAt } from "./schema-hints.ts";

export interface CodeEditor {
  /** The text as it was typed, with its own ends of lines. */
  text(): string;
  cursor(): number;
  setText(text: string): void;
  focus(): void;
  /** Puts the cursor at a line and a column, which count from 1. */
  goTo(line: number, column: number): void;
  showProblems(problems: readonly Schemas["Diagnostic"][]): void;
  /** Marks what differs from another text, with a button at each place that takes over that text; null marks nothing. */
  markAgainst(other: string | null): void;
  destroy(): void;
}

export interface CodeEditorOptions {
  readonly text: string;
  readonly cursor: number;
  readonly isJson: boolean;
  readonly isReadOnly: boolean;
  readonly schema: () => JsonSchema | undefined;
  readonly onChange: () => void;
  readonly onSave: () => void;
  /** `Esc`: the focus leaves the editor. */
  readonly onLeave: () => void;
}

export function openCodeEditor(host: HTMLElement, options: CodeEditorOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const place = document.createElement("div");
  place.style.blockSize = "100%";
  root.replaceChildren(place);
  const marks = new Compartment();
  const lineBreak = options.text.includes("\r\n") ? "\r\n" : "\n";
  const state = EditorState.create({
    doc: options.text,
    selection: { anchor: Math.min(options.cursor, options.text.replaceAll("\r\n", "\n").length) },
    extensions: [
      EditorState.lineSeparator.of(lineBreak),
      EditorState.readOnly.of(options.isReadOnly),
      marks.of([]),
      keys(options),
      reading,
      autocompletion({ override: [complete(options)], icons: false }),
      hover(options),
      EditorView.updateListener.of(({ docChanged }) => {
        if (docChanged) options.onChange();
      }),
    ],
  });
  const view = new EditorView({ state, parent: place, root });
  return {
    text: () => view.state.sliceDoc(),
    cursor: () => view.state.selection.main.head,
    setText(text) {
      const lines = view.state.toText(text);
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: lines } });
    },
    focus: () => view.focus(),
    goTo(line, column) {
      const at = offsetOf(view.state, line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    showProblems: (problems) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          // Those of an included file have no place in this text.
          problems.filter(({ file }) => file === undefined).map((one) => shown(view.state, one)),
        ),
      ),
    markAgainst(other) {
      const extension =
        other === null ? [] : unifiedMergeView({ original: view.state.toText(other), mergeControls: mergeControl });
      view.dispatch({ effects: marks.reconfigure(extension) });
    },
    destroy: () => view.destroy(),
  };
}

function keys({ onSave, onLeave }: CodeEditorOptions): Extension {
  const run = (call: () => void) => () => {
    call();
    return true;
  };
  return [
    Prec.high(keymap.of([{ key: "Mod-s", run: run(onSave), preventDefault: true }])),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...lintKeymap, ...historyKeymap]),
    // Behind the keys that close a list or a panel.
    keymap.of([{ key: "Escape", run: run(onLeave) }, ...defaultKeymap, indentWithTab]),
  ];
}

/** Colours are those of the page, which the shadow root inherits. */
const theme = EditorView.theme({
  "&": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    background: "var(--surface)",
    color: "var(--text)",
    fontSize: "13px",
    blockSize: "100%",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", minBlockSize: "320px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { background: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "light-dark(#cfe6ee, #1f4a5a) !important",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    background: "var(--raised)",
    color: "var(--text)",
    maxInlineSize: "min(440px, 90vw)",
    fontFamily: "var(--sans)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent-fill)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal" },
  ".cm-completionInfo": { padding: "6px 9px" },
  ".cm-about": { padding: "6px 9px", fontSize: "13px" },
  ".cm-about p": { margin: "2px 0" },
  ".cm-diagnostic": { padding: "4px 9px", fontFamily: "var(--sans)" },
  // The editor's own marks are images in `data:`, which the content security policy does not have.
  ".cm-lintRange": {
    backgroundImage: "none !important",
    textDecoration: "underline wavy 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-error": { textDecorationColor: "var(--failed)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--waiting)" },
  ".cm-lint-marker": { inlineSize: "8px", blockSize: "8px", margin: "5px 3px", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "normal !important", background: "var(--failed)" },
  ".cm-lint-marker-warning": { content: "normal !important", background: "var(--waiting)", borderRadius: "0" },
  ".cm-panels": { background: "var(--sunken)", color: "var(--text)" },
  ".cm-panel input, .cm-panel button": { color: "var(--text)", background: "var(--surface)" },
  ".cm-changedLine": { background: "color-mix(in srgb, var(--success) 12%, transparent) !important" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--success) 24%, transparent) !important" },
  ".cm-deletedChunk": { background: "color-mix(in srgb, var(--failed) 12%, transparent) !important" },
  ".cm-deletedChunk .cm-deletedText": { background: "color-mix(in srgb, var(--failed) 24%, transparent) !important" },
  ".cm-take": {
    margin: "2px 4px",
    padding: "1px 8px",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    background: "var(--surface)",
    color: "var(--text)",
    font: "12px var(--sans)",
    cursor: "pointer",
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: "var(--text)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.bool, tags.number, tags.null], color: "var(--paused)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--muted)" },
  { tag: [tags.labelName, tags.typeName], color: "var(--partial)" },
]);

const reading: Extension = [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of("  "),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  EditorView.lineWrapping,
  EditorView.domEventHandlers({ beforeinput: typeOver }),
  EditorView.contentAttributes.of({
    tabindex: "0",
    "aria-label": words.edit.editor,
    "aria-describedby": "editor-keys",
  }),
  yaml(),
  syntaxHighlighting(colours),
  theme,
];

/**
 * A browser that types over several lines itself keeps their look with style attributes, which the content security
 * policy refuses.
 */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const { main } = view.state.selection;
  const isOneLine = view.state.doc.lineAt(main.from).to >= main.to;
  if (event.inputType !== "insertText" || event.data === null || event.isComposing) return false;
  if (isOneLine || view.state.readOnly) return false;
  const change = view.state.replaceSelection(view.state.toText(event.data));
  view.dispatch(change, { userEvent: "input.type", scrollIntoView: true });
  return true;
}

function mergeControl(kind: "accept" | "reject", action: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "cm-take";
  button.textContent = kind === "accept" ? words.edit.keepChunk : words.edit.takeChunk;
  button.onmousedown = action;
  return button;
}

function offsetOf(state: EditorState, line: number, column: number): number {
  const { from, to } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
  return Math.min(from + Math.max(0, column - 1), to);
}

function shown(state: EditorState, problem: Schemas["Diagnostic"]): Diagnostic {
  const from = offsetOf(state, problem.line, problem.column);
  const to = Math.max(from, offsetOf(state, problem.endLine, problem.endColumn));
  // A value of many lines would be underlined as a whole: its first line says where it is.
  const end = Math.min(to, state.doc.lineAt(from).to);
  const message = problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`;
  return { from, to: Math.max(from, end), severity: problem.severity, message, source: problem.code };
}

function complete({ schema, isJson }: CodeEditorOptions) {
  return (context: CompletionContext): CompletionResult | null => {
    const known = schema();
    const place = known && writingPlaceAt(context.state.doc.toString(), context.pos);
    if (known === undefined || place === undefined) return null;
    if (!context.explicit && place.from === context.pos) return null;
    const { kind, path, root, from, isQuoted, hasColon } = place;
    const quote = isJson && !isQuoted ? '"' : "";
    const ofWords = (words: readonly string[]): Completion[] =>
      words.map((label) => ({ label, apply: /^(true|false|\d+)$/.test(label) ? label : `${quote}${label}${quote}` }));
    if (kind === "value") {
      const options = ofWords(wordsAt(known, root, path));
      return options.length === 0 ? null : { from, options, validFor: /^[\w.@/-]*$/ };
    }
    const closing = isQuoted && context.state.sliceDoc(context.pos, context.pos + 1) !== '"' ? '"' : quote;
    const options = keysAt(known, root, path).map(({ key, about, type, isRequired }): Completion => ({
      label: key,
      detail: isRequired ? `${type}, ${words.edit.required}` : type,
      ...(about === "" ? {} : { info: about }),
      boost: isRequired ? 10 : 0,
      apply: hasColon || isQuoted ? `${key}${hasColon ? "" : closing}` : `${quote}${key}${quote}: `,
    }));
    const all = [...options, ...ofWords(wordsAt(known, root, path))];
    return all.length === 0 ? null : { from, options: all, validFor: /^[\w.@/-]*$/ };
  };
}

function hover({ schema }: CodeEditorOptions): Extension {
  return hoverTooltip((view, at): Tooltip | null => {
    const known = schema();
    const place = known && standingPlaceAt(view.state.doc.toString(), at);
    if (known === undefined || place === undefined) return null;
    const meaning = meaningAt(known, place.root, place.path);
    if (meaning === undefined || (meaning.about === "" && meaning.words.length === 0)) return null;
    return {
      pos: place.from,
      end: place.to,
      above: true,
      create() {
        const dom = document.createElement("div");
        dom.className = "cm-about";
        const lines = [meaning.about, meaning.type, meaning.words.length === 0 ? "" : meaning.words.join(", ")];
        for (const line of lines.filter((text) => text !== "")) {
          const paragraph = document.createElement("p");
          paragraph.textContent = line;
          dom.append(paragraph);
        }
        return { dom };
      },
    };
  });
}
