// One WebSocket per user: sends 64 bytes, and again as soon as the echo is there, until the time is over.
import { WebSocket } from 'k6/websockets';

const seconds = Number(__ENV.SECONDS);
const text = 'x'.repeat(64);
export const options = {
    scenarios: { echo: { executor: 'per-vu-iterations', vus: Number(__ENV.USERS), iterations: 1, maxDuration: '300s', gracefulStop: '1s' } },
};

export default function () {
    const socket = new WebSocket(__ENV.URL);
    const until = Date.now() + seconds * 1000;
    socket.onopen = () => socket.send(text);
    socket.onmessage = () => {
        if (Date.now() < until) {
            socket.send(text);
        } else {
            socket.close();
        }
    };
}
