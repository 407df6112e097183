// What the shell loads when the playground is opened.
export { PlaygroundPage } from './PlaygroundPage';
