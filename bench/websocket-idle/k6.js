// One WebSocket per user: connects, gets one echo, then stays idle until the time is over.
import { WebSocket } from 'k6/websockets';

const users = Number(__ENV.USERS);
export const options = {
    scenarios: { idle: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: '300s', gracefulStop: '1s' } },
};

export default function () {
    const socket = new WebSocket(__ENV.URL);
    socket.onopen = () => {
        socket.send('hello');
        setTimeout(() => socket.close(), Number(__ENV.SECONDS) * 1000);
    };
}
