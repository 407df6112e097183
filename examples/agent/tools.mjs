// The agent's tools. Each tool has a schema, which its arguments must match, and a function that
// runs. A function returns its result as JSON. If a call fails, it returns the error as JSON, so
// that the model can read the error.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const operations = { add: (a, b) => a + b, subtract: (a, b) => a - b, multiply: (a, b) => a * b, divide: (a, b) => a / b };

export const tools = {
  calculate: {
    description: 'Adds, subtracts, multiplies or divides two numbers.',
    parameters: {
      type: 'object',
      properties: {
        operation: { enum: Object.keys(operations) },
        a: { type: 'integer', minimum: -100000, maximum: 100000 },
        b: { type: 'integer', minimum: -100000, maximum: 100000 },
      },
      required: ['operation', 'a', 'b'],
      additionalProperties: false,
    },
    run({ operation, a, b }) {
      const value = operations[operation](a, b);
      return Number.isFinite(value) ? { value } : { error: 'Nothing is divided by zero.' };
    },
  },
  weekday: {
    description: 'The day of the week of a date.',
    parameters: {
      type: 'object',
      properties: {
        year: { type: 'integer', minimum: 1970, maximum: 2999 },
        month: { type: 'integer', minimum: 1, maximum: 12 },
        day: { type: 'integer', minimum: 1, maximum: 31 },
      },
      required: ['year', 'month', 'day'],
      additionalProperties: false,
    },
    run({ year, month, day }) {
      const date = new Date(Date.UTC(year, month - 1, day));
      if (date.getUTCMonth() !== month - 1) return { error: `Month ${month} has no day ${day}.` };
      return { weekday: date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }) };
    },
  },
  examples: {
    description: 'Names the jobs among the examples of this folder.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    run() {
      return { jobs: fs.readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5)).sort() };
    },
  },
};

/** As chat completions want them. */
export const offered = Object.entries(tools).map(([name, { description, parameters }]) => ({ type: 'function', function: { name, description, parameters } }));

/** The result of a call as JSON. */
export function run(name, argumentsText) {
  const tool = tools[name];
  if (!tool) return JSON.stringify({ error: `There is no tool ${name}.` });
  try {
    return JSON.stringify(tool.run(JSON.parse(argumentsText)));
  } catch (error) {
    return JSON.stringify({ error: error.message });
  }
}
