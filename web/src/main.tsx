import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { takeInvitation } from './app/invitation';
import './design/base.css';
import { createEngineWorker } from './engine/createEngineWorker';
import { Engine } from './engine/engine';
import { Throttle } from './engine/throttle';

takeInvitation();
const base = new URL('/', window.location.href).href;
const engine = new Engine({ createPort: createEngineWorker });
const throttle = new Throttle(engine);
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root.');
createRoot(root).render(
  <StrictMode>
    <App engine={engine} throttle={throttle} base={base} />
  </StrictMode>,
);
