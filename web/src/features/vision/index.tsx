// The entry point of the page Vision, which is loaded when the page is opened.
export { VisionPage } from './VisionPage';
