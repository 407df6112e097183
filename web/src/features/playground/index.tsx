// What the shell loads when somebody goes to the playground.
export { PlaygroundPage } from './PlaygroundPage';
