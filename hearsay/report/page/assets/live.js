'use strict';
// Follows a run in progress: the server sends each new line of metrics.jsonl, and the run's
// progress. In served pages only.
(() => {
  const banner = document.getElementById('live');
  const text = banner.querySelector('.state');
  const bar = banner.querySelector('progress');
  const reload_after = 4000;  // lines: the server then makes a freshly sampled page
  let leaving = false;

  const say = (state, words) => {
    banner.dataset.state = state;
    text.textContent = words;
  };
  const clock = (seconds) => {
    const s = Math.round(seconds);
    const two = (n) => String(n).padStart(2, '0');
    if (s < 60) return `${s} s`;
    return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)} min`
                    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)} h`;
  };

  let events;
  const listeners = [];
  const connect = () => {
    events = new EventSource('/events' + location.search);
    for (const [name, heard] of listeners) events.addEventListener(name, heard);
  };
  const listen = (name, act) => listeners.push([name, (event) => {
    let data = null;
    try {
      data = event.data ? JSON.parse(event.data) : null;
    } catch {
      return;  // truncated or foreign: ignored, the next one will do
    }
    act(data);
  }]);

  listen('open', () => say('open', 'live'));
  // Lines that the page already has are skipped. A page made before the first one has no charts.
  listen('line', (line) => {
    if (!line || leaving) return;
    const appended = hearsay.append(line);
    if (appended >= 0 && appended < reload_after) return;
    leaving = true;
    setTimeout(() => location.reload(), 1000);
  });
  listen('progress', (p) => {
    if (!p) return;
    const whole = (n) => Math.round(n).toLocaleString('en-US');
    const parts = [`live: round ${whole(p.round)}` + (p.total ? ` of ${whole(p.total)}` : '')];
    const pace = p.rounds_per_second;
    if (pace > 0) parts.push(`${pace < 100 ? pace.toPrecision(3) : whole(pace)} rounds/s`);
    if (p.seconds_left != null) parts.push(`${clock(p.seconds_left)} left`);
    say('open', parts.join(', '));
    bar.hidden = !p.total;
    if (p.total) Object.assign(bar, {max: p.total, value: p.round});
  });
  // Of a device: the part about its fleet, made and escaped by the server; the page's policy lets no
  // script in it run.
  listen('fleet', (html) => {
    const part = document.getElementById('fleet');
    if (!part || typeof html !== 'string') return;
    const before = [...part.querySelectorAll('.wide')].map((wide) => [wide.scrollLeft, wide.scrollTop]);
    part.innerHTML = html;
    part.querySelectorAll('.wide').forEach((wide, k) => {
      if (before[k]) [wide.scrollLeft, wide.scrollTop] = before[k];
    });
  });
  listen('reset', () => location.reload());

  // The final page replaces this one, if the server is still running: a plain reload would show
  // nothing if it is not.
  let finished = false;
  const finish = () => {
    if (finished) return;
    finished = true;
    events.close();
    fetch(location.href)
        .then((reply) => (reply.ok ? reply.text() : Promise.reject(reply.status)))
        .then((html) => {
          document.open();
          document.write(html);
          document.close();
        })
        .catch(() => {});
  };
  // The server closes the stream after this; if it does not, we do.
  listen('end', () => {
    say('ended', 'the run has ended');
    bar.hidden = true;
    setTimeout(finish, 1000);
  });
  // A browser reconnects automatically, but not after a refusal, which may be temporary: too many
  // viewers.
  const patience = 10000;
  listen('error', () => {
    if (banner.dataset.state === 'ended') return finish();
    say('lost', 'connection lost; trying again');
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, patience);
  });
  connect();
})();
