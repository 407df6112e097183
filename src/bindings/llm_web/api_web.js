// The methods of the module, which README.md lists. The linker adds this file after Emscripten's
// own code in the factory (--post-js).
const weftAsk = (texts, use, onPiece) => weftCall((call) => weftInto(texts, (...places) => use(call, ...places)), onPiece);

Module['load'] = async (options) => JSON.parse(await weftAsk([JSON.stringify(options)], (call, json, size) => _weft_llm_load(call, json, size)).answer);
// `input` is { text }, { tokens } or { chat }. Returns { call, answer }.
Module['generate'] = (input, options, onPiece) => {
  const [kind, text] = input.text !== undefined ? [0, input.text] : input.tokens !== undefined ? [1, JSON.stringify(input.tokens)] : [2, JSON.stringify(input.chat)];
  const { call, answer } = weftAsk([JSON.stringify(options), text],
    (number, json, jsonSize, from, size) => _weft_llm_generate(number, json, jsonSize, kind, from, size), onPiece);
  return { call, answer: answer.then(JSON.parse) };
};
Module['cancel'] = (call) => _weft_llm_cancel(call);
Module['tokenize'] = async (text, { addSpecial = false, parseSpecial = false } = {}) =>
  JSON.parse(await weftAsk([text], (call, from, size) => _weft_llm_tokenize(call, from, size, +addSpecial, +parseSpecial)).answer);
Module['detokenize'] = (tokens, { showSpecial = true } = {}) =>
  weftAsk([JSON.stringify(tokens)], (call, json, size) => _weft_llm_detokenize(call, json, size, +showSpecial)).answer;
Module['render'] = (input) => weftAsk([JSON.stringify(input)], (call, json, size) => _weft_llm_render(call, json, size)).answer;
Module['release'] = () => _weft_llm_release();
