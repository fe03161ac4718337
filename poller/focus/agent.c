/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "refresh.h"
#include "util/util.h"

static bool same(const struct focus_state *a, const struct focus_state *b)
{
        return a->known == b->known && a->locked == b->locked && a->pid == b->pid &&
               strcmp(a->app_id, b->app_id) == 0;
}

void agent_report(struct focus_sink *sink, const struct focus_state *state)
{
        struct agent *agent = (struct agent *)sink;

        agent->reported = true;
        if (agent->settling && same(&agent->pending, state))
                return;
        if (same(&agent->published, state)) {
                agent->settling = false; /* the state changed and changed back */
                limiter_front(&agent->limiter, state);
                return;
        }
        agent->pending = *state;
        agent->pending_since_ns = util_boottime_ns();
        agent->settling = true;
        limiter_front(&agent->limiter, state);
}

static void print_json(const struct agent *agent)
{
        const struct focus_state *state = &agent->published;

        printf("{\"backend\": \"%s\", \"known\": %s, \"locked\": %s, \"pid\": %d, \"app_id\": \"",
               agent->ops ? agent->ops->name : "", state->known ? "true" : "false",
                       state->locked ? "true" : "false",
               (int)state->pid);
        for (const char *at = state->app_id; *at; at++)
                printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        printf("\", \"boottime_ns\": %llu}\n", (unsigned long long)agent->published_since_ns);
        fflush(stdout);
}

/*
 * A user who changes the rate has probably opened the settings, so the focus changes; the rate is read then.
 */
static void tell_screen(struct agent *agent, uint64_t now_ns)
{
        uint32_t mhz;

        if (agent->refresh_read_ns && now_ns - agent->refresh_read_ns < REFRESH_APART_NS)
                return;
        agent->refresh_read_ns = now_ns;
        mhz = refresh_read();
        if (mhz != agent->refresh_mhz)
                sender_send_screen(&agent->sender, mhz, now_ns);
        agent->refresh_mhz = mhz;
}

static void publish(struct agent *agent, const struct focus_state *state, uint64_t since_ns, uint64_t now_ns)
{
        agent->settling = false;
        agent->published = *state;
        agent->published_since_ns = since_ns;
        sender_send(&agent->sender, state, since_ns, agent->ops && agent->ops->tick, now_ns);
        tell_screen(agent, now_ns);
        limiter_front(&agent->limiter, state);
        limiter_changed(&agent->limiter, state);
        if (agent->print)
                print_json(agent);
}

void agent_settle(struct agent *agent, uint64_t now_ns)
{
        if (agent->settling && now_ns >= agent->pending_since_ns + SETTLE_NS)
                publish(agent, &agent->pending, agent->pending_since_ns, now_ns);
}

void agent_close_backend(struct agent *agent)
{
        backend_close(agent->backend);
        agent->backend = NULL;
        agent->ops = NULL;
}

/* The desktop is gone: the focus is unknown from now on. */
static void lose_backend(struct agent *agent, int err, uint64_t now_ns)
{
        const struct focus_state unknown = { .known = false };

        log_info(agent->log, "%s is gone: %s", agent->chosen, strerror(-err));
        agent_close_backend(agent);
        agent->chosen[0] = '\0';
        backoff_failed(&agent->backoff, now_ns);
        publish(agent, &unknown, now_ns, now_ns);
}

/* Waits up to FIRST_STATE_NS for the first report. */
static int first_state(struct agent *agent)
{
        uint64_t deadline_ns = util_boottime_ns() + FIRST_STATE_NS, now_ns;
        int err = agent->ops->dispatch(agent->backend); /* messages read by start() raise no event */

        while (!err && !agent->reported && (now_ns = util_boottime_ns()) < deadline_ns) {
                struct pollfd wait = { .fd = backend_fd(agent->backend), .events = POLLIN };

                if (poll(&wait, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) > 0)
                        err = agent->ops->dispatch(agent->backend);
        }
        if (err || agent->reported)
                return err;
        if (!agent->ops->patient)
                return -ETIMEDOUT;
        focus_report_unknown(&agent->sink);
        return 0;
}

static const char *reason(int err)
{
        switch (err) {
        case -EOPNOTSUPP:
                return "it does not report the focus";
        case -EHOSTUNREACH:
                return "it is not running";
        case -ETIMEDOUT:
                return "it did not respond";
        default:
                return strerror(-err);
        }
}

static int try_backend(struct agent *agent, const struct backend_ops *ops, const char **why)
{
        int err;

        *why = ops->probe();
        if (*why)
                return -ENODEV;
        agent->reported = false;
        err = backend_open(ops, &agent->sink, &agent->backend);
        if (!err) {
                agent->ops = ops;
                err = first_state(agent);
                if (err)
                        agent_close_backend(agent);
        }
        if (err)
                *why = reason(err);
        return err;
}

int agent_choose(struct agent *agent)
{
        char passed[768] = "";
        size_t length = 0;

        for (size_t i = 0; backends[i]; i++) {
                const char *why;

                if (agent->wanted && strcmp(agent->wanted, backends[i]->name) != 0)
                        continue;
                if (try_backend(agent, backends[i], &why) == 0) {
                        if (strcmp(agent->chosen, agent->ops->name) == 0)
                                return 0;
                        snprintf(agent->chosen, sizeof(agent->chosen), "%s", agent->ops->name);
                        log_info(agent->log, "the focus comes from %s%s%s%s%s", agent->ops->name,
                                 agent->ops->patient && !agent->published.known && !agent->pending.known
                                         ? " (after its extension focus@joulecast, or before GNOME 45"
                                           " focus43@joulecast, is enabled)" : "",
                                 length ? " (skipped: " : "", passed, length ? ")" : "");
                        return 0;
                }
                length += (size_t)snprintf(passed + length, sizeof(passed) - length, "%s%s: %s",
                                           length ? "; " : "",
                                           backends[i]->name, why);
                length = MIN(length, sizeof(passed) - 1);
        }
        if (!agent->backoff.wait_ns)
                log_info(agent->log, "no back-end can report the focus here (%s)", passed);
        return -ENODEV;
}

static bool same_sound(const struct pipewire_sound *a, const struct pipewire_sound *b)
{
        return a->others == b->others && a->n == b->n && memcmp(a->pids, b->pids, a->n * sizeof(*a->pids)) == 0;
}

static void print_sound(const struct pipewire_sound *sound)
{
        printf("{\"sound\": [");
        for (size_t i = 0; i < sound->n; i++)
                printf("%s%d", i ? ", " : "", (int)sound->pids[i]);
        printf("], \"others\": %s}\n", sound->others ? "true" : "false");
        fflush(stdout);
}

/* A stream and its card begin one after the other, and a change of songs ends and begins one. */
static void settle_sound(struct agent *agent, uint64_t now_ns)
{
        _cleanup_close_ int root_fd = -1;
        struct pipewire_sound sound;

        if (agent->sound_since_ns == 0 || now_ns < agent->sound_since_ns + SETTLE_NS)
                return;
        agent->sound_since_ns = 0;
        root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        pipewire_sound(&agent->pipewire, root_fd, &sound);
        if (same_sound(&sound, &agent->sound))
                return;
        agent->sound = sound;
        sender_send_sound(&agent->sender, &sound, now_ns);
        limiter_changed(&agent->limiter, &agent->limiter.front);
        if (agent->print)
                print_sound(&sound);
}

static void keep_up(struct agent *agent, uint64_t now_ns)
{
        if (sender_connect(&agent->sender, now_ns)) {
                sender_send(&agent->sender, &agent->published, agent->published_since_ns, agent->ops &&
                            agent->ops->tick,
                            now_ns);
                if (agent->sound.n > 0 || agent->sound.others)
                        sender_send_sound(&agent->sender, &agent->sound, now_ns);
                if (agent->refresh_mhz)
                        sender_send_screen(&agent->sender, agent->refresh_mhz, now_ns);
        }
        pipewire_connect(&agent->pipewire, now_ns);
        if (agent->backend || !backoff_due(&agent->backoff, now_ns))
                return;
        if (agent_choose(agent) == 0)
                backoff_succeeded(&agent->backoff, util_boottime_ns());
        else
                backoff_failed(&agent->backoff, util_boottime_ns());
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Milliseconds until the next timer; -1: there is none, only events wake the loop. */
static int timeout_ms(const struct agent *agent, uint64_t now_ns)
{
        uint64_t at = UINT64_MAX;

        if (agent->settling)
                at = sooner(at, agent->pending_since_ns + SETTLE_NS);
        if (agent->sound_since_ns)
                at = sooner(at, agent->sound_since_ns + SETTLE_NS);
        at = sooner(at, pipewire_deadline(&agent->pipewire));
        if (agent->sender.fd < 0)
                at = sooner(at, agent->sender.backoff.until_ns);
        if (!agent->backend)
                at = sooner(at, agent->backoff.until_ns);
        at = sooner(at, warner_deadline(&agent->warner));
        at = sooner(at, planner_deadline(&agent->planner));
        if (!agent->settling)
                at = sooner(at, limiter_deadline(&agent->limiter));
        if (at == UINT64_MAX)
                return -1;
        return at <= now_ns ? 0 : (int)((at - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * A back-end that needs ticks is a last resort, and may have been chosen only because the desktop was still
 * starting. Search again for a better one at a tick, which wakes us anyway.
 */
static int tick(struct agent *agent)
{
        uint64_t now_ns = util_boottime_ns();

        if (!backoff_due(&agent->backoff, now_ns))
                return agent->ops->tick(agent->backend);
        agent_close_backend(agent);
        backoff_failed(&agent->backoff, now_ns);
        return agent_choose(agent);
}

static void dispatch(struct agent *agent, const struct pollfd *wait)
{
        int err = 0;

        if (wait[1].revents && sender_dispatch(&agent->sender, util_boottime_ns()) && agent->backend &&
            agent->ops->tick)
                err = tick(agent);
        if (!err && wait[0].revents && agent->backend)
                err = agent->ops->dispatch(agent->backend);
        if (wait[3].revents) {
                pipewire_dispatch(&agent->pipewire, util_boottime_ns());
                if (!agent->sound_since_ns)
                        agent->sound_since_ns = util_boottime_ns();
        }
        if (wait[4].revents)
                limiter_dispatch(&agent->limiter);
        if (wait[5].revents)
                limiter_guard_ended(&agent->limiter);
        if (wait[6].revents)
                planner_dispatch(&agent->planner);
        if (wait[7].revents)
                planner_guard_ended(&agent->planner);
        if (err)
                lose_backend(agent, err, util_boottime_ns());
}

int agent_run(struct agent *agent, int stop_fd, const sigset_t *stops)
{
        for (;;) {
                struct pollfd wait[8];
                int n;

                keep_up(agent, util_boottime_ns());
                agent_settle(agent, util_boottime_ns());
                settle_sound(agent, util_boottime_ns());
                warner_run(&agent->warner, util_boottime_ns());
                planner_run(&agent->planner, util_boottime_ns());
                if (!agent->settling) /* the foreground app is about to change */
                        limiter_run(&agent->limiter, &agent->sound, util_boottime_ns());
                wait[0] = (struct pollfd){ .fd = agent->backend ? backend_fd(agent->backend) : -1,
                                           .events = POLLIN };
                wait[1] = (struct pollfd){ .fd = agent->sender.fd, .events = POLLIN };
                wait[2] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
                wait[3] = (struct pollfd){ .fd = pipewire_fd(&agent->pipewire), .events = POLLIN };
                wait[4] = (struct pollfd){ .fd = limiter_fd(&agent->limiter), .events = POLLIN };
                wait[5] = (struct pollfd){ .fd = limiter_guard_fd(&agent->limiter) };
                wait[6] = (struct pollfd){ .fd = planner_fd(&agent->planner), .events = POLLIN };
                wait[7] = (struct pollfd){ .fd = planner_guard_fd(&agent->planner) };
                sigprocmask(SIG_BLOCK, stops, NULL);
                n = poll(wait, ARRAY_SIZE(wait), timeout_ms(agent, util_boottime_ns()));
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0 && wait[2].revents)
                        return 0;
                sigprocmask(SIG_UNBLOCK, stops, NULL);
                dispatch(agent, wait);
                agent_settle(agent, util_boottime_ns());
        }
}
