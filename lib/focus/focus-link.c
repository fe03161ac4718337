/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "focus-link.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "util/local-socket.h"
#include "util/subordinate.h"
#include "util/units.h"
#include "util/util.h"

#define QUEUE 128 /* connections not accepted yet */
#define ACCEPT_PART 20 /* accepting takes at most 1/20 of the time, as even turning agents away costs some */
#define PAUSE_NS (100 * NS_PER_MS) /* at least, after a connection too many: waking up costs more than accepting */
#define AGENTS_MAX 16 /* users that are logged in at once */
#define OLDEST_NS (5 * NS_PER_S) /* an agent cannot change the state of a time longer ago than this */

struct agent {
        int fd; /* -1: free */
        uid_t uid;
        uint64_t order; /* number of the connection; the newest agent wins */
        bool heard, ticks; /* sent a state; wants ticks */
        struct focus_message last;
        pid_t players[FOCUS_PLAYERS_MAX]; /* processes of the agent's user */
        size_t n_players, others;
        uint32_t refresh_mhz; /* refresh rate of the screen; 0: unknown */
};

struct user {
        uid_t uid; /* the one who owns the sender's, if that is a subordinate one */
        struct focus_bucket bucket;
};

struct focus_link {
        int listen_fd, epoll_fd, root_fd;
        int timer_fd;                  /* ends a pause */
        char *path;
        const struct focus_link_ops *ops;
        void *data;
        const struct log *log;
        struct agent agents[AGENTS_MAX];
        struct user users[AGENTS_MAX]; /* rate limits of the users, across connections */
        struct agent *speaker;         /* the agent whose state is used; NULL: none */
        bool shut; /* no connection is accepted until the next poll */
        uint64_t orders;
        uint64_t complained_ns;        /* broken agents are logged at most once a minute */
};

void focus_link_close(struct focus_link *link)
{
        if (!link)
                return;
        for (size_t i = 0; i < AGENTS_MAX; i++)
                closep(&link->agents[i].fd);
        closep(&link->listen_fd);
        closep(&link->epoll_fd);
        closep(&link->timer_fd);
        if (link->path)
                unlink(link->path);
        free(link->path);
        free(link);
}

DEFINE_CLEANUP(struct focus_link, focus_link_close)

static int watch(struct focus_link *link, int fd, void *who)
{
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = who };

        return epoll_ctl(link->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int focus_link_open(const char *path, int root_fd, const struct focus_link_ops *ops, void *data,
                    const struct log *log,
                    struct focus_link **ret)
{
        _cleanup_(focus_link_closep) struct focus_link *link = calloc(1, sizeof(*link));
        int err;

        if (!link)
                return -ENOMEM;
        link->listen_fd = link->epoll_fd = link->timer_fd = -1;
        link->root_fd = root_fd;
        link->ops = ops;
        link->data = data;
        link->log = log;
        for (size_t i = 0; i < AGENTS_MAX; i++)
                link->agents[i].fd = -1;
        link->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (link->epoll_fd < 0)
                return -errno;
        link->listen_fd = local_socket_listen(path, SOCK_SEQPACKET, QUEUE);
        if (link->listen_fd < 0)
                return link->listen_fd;
        link->path = strdup(path);
        if (!link->path)
                return -ENOMEM;
        err = watch(link, link->listen_fd, &link->listen_fd);
        link->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (!err)
                err = link->timer_fd < 0 ? -errno : watch(link, link->timer_fd, &link->timer_fd);
        if (err)
                return err;
        *ret = TAKE_PTR(link);
        return 0;
}

int focus_link_fd(const struct focus_link *link)
{
        return link->epoll_fd;
}

static void complain(struct focus_link *link, uint64_t now_ns, uid_t uid, const char *what)
{
        if (link->complained_ns && now_ns - link->complained_ns < 60 * NS_PER_S)
                return;
        link->complained_ns = now_ns;
        log_warning(link->log, "disconnected the focus agent of uid %u: %s", (unsigned)uid, what);
}

static void tell_refresh(struct focus_link *link)
{
        if (link->ops->refresh)
                link->ops->refresh(link->data, link->speaker ? link->speaker->refresh_mhz : 0);
}

/* Reports the state of the accepted agent (the speaker), or that there is none. */
static void tell(struct focus_link *link, uint64_t boottime_ns)
{
        const struct agent *speaker = link->speaker;

        link->ops->heard(link->data, speaker && speaker->heard ? &speaker->last : NULL, boottime_ns);
}

static bool may_speak(const struct focus_link *link, uid_t uid)
{
        return !link->ops->may_speak || link->ops->may_speak(link->data, uid);
}

static void choose_speaker(struct focus_link *link, uint64_t now_ns)
{
        struct agent *best = NULL;

        for (size_t i = 0; i < AGENTS_MAX; i++) {
                struct agent *agent = &link->agents[i];

                if (agent->fd < 0 || !may_speak(link, agent->uid))
                        continue;
                if (!best || agent->order > best->order)
                        best = agent;
        }
        if (best == link->speaker)
                return;
        link->speaker = best;
        tell(link, now_ns);
        tell_refresh(link);
}

/*
 * Reports the players of all agents in one list; these are different processes, as each belongs to its
 * agent's user.
 */
static void tell_sound(struct focus_link *link)
{
        pid_t pids[AGENTS_MAX * FOCUS_PLAYERS_MAX];
        size_t n = 0, others = 0;

        for (size_t i = 0; i < AGENTS_MAX; i++) {
                const struct agent *agent = &link->agents[i];

                others += agent->others;
                memcpy(&pids[n], agent->players, agent->n_players * sizeof(*pids));
                n += agent->n_players;
        }
        if (link->ops->sound)
                link->ops->sound(link->data, pids, n, others);
}

static void hang_up(struct focus_link *link, struct agent *agent, uint64_t now_ns)
{
        bool believed = link->speaker == agent, played = agent->n_players + agent->others > 0;

        closep(&agent->fd);
        *agent = (struct agent){ .fd = -1 };
        if (played)
                tell_sound(link);
        if (!believed)
                return;
        link->speaker = NULL;
        tell(link, now_ns);
        tell_refresh(link);
        choose_speaker(link, now_ns);
}

/* Rate limits are per user, so that an agent cannot evade them by reconnecting, nor by another of the user's ids. */
static struct focus_bucket *bucket_of(struct focus_link *link, uid_t any)
{
        struct user *oldest = &link->users[0];
        uid_t uid = subordinate_owner(any);

        for (size_t i = 0; i < AGENTS_MAX; i++) {
                if (link->users[i].uid == uid && link->users[i].bucket.last_ns)
                        return &link->users[i].bucket;
                if (link->users[i].bucket.last_ns < oldest->bucket.last_ns)
                        oldest = &link->users[i];
        }
        *oldest = (struct user){ .uid = uid };
        return &oldest->bucket;
}

/*
 * One user may have many uids (/etc/subuid) and use up all entries with them. So an agent of the active
 * session may replace the oldest agent that is not of it.
 */
static struct agent *make_place(struct focus_link *link, uid_t uid, uint64_t now_ns)
{
        struct agent *oldest = NULL;

        for (size_t i = 0; i < AGENTS_MAX && may_speak(link, uid); i++) {
                struct agent *agent = &link->agents[i];

                if (!may_speak(link, agent->uid) && (!oldest || agent->order < oldest->order))
                        oldest = agent;
        }
        if (oldest)
                hang_up(link, oldest, now_ns);
        return oldest;
}

/* One agent per user: a new one replaces the old one. */
static struct agent *place_for(struct focus_link *link, uid_t uid, uint64_t now_ns)
{
        for (size_t i = 0; i < AGENTS_MAX; i++)
                if (link->agents[i].fd >= 0 && link->agents[i].uid == uid)
                        hang_up(link, &link->agents[i], now_ns);
        for (size_t i = 0; i < AGENTS_MAX; i++)
                if (link->agents[i].fd < 0)
                        return &link->agents[i];
        return make_place(link, uid, now_ns);
}

/*
 * Without free descriptors accept() fails and the socket stays readable; so it is not watched until the next
 * poll.
 */
static void let_in(struct focus_link *link, bool now)
{
        struct epoll_event event = { .events = now ? EPOLLIN : 0, .data.ptr = &link->listen_fd };

        if (epoll_ctl(link->epoll_fd, EPOLL_CTL_MOD, link->listen_fd, &event) == 0)
                link->shut = !now;
}

/* For a time; a flood goes on until then without us. */
static void pause_accepting(struct focus_link *link, uint64_t ns)
{
        struct itimerspec when = { .it_value = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) } };

        if (timerfd_settime(link->timer_fd, 0, &when, NULL) == 0)
                let_in(link, false);
}

static void end_pause(struct focus_link *link)
{
        uint64_t times;

        if (read(link->timer_fd, &times, sizeof(times)) > 0)
                let_in(link, true);
}

/* Accepts one connection. 1: it is an agent's; 0: it was turned away; a negative errno: there is none. */
static int accept_agent(struct focus_link *link, uint64_t now_ns)
{
        _cleanup_close_ int fd = accept4(link->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct ucred peer;
        socklen_t size = sizeof(peer);
        struct agent *agent;

        if (fd < 0)
                return -errno;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
                return 0;
        if (!focus_bucket_take(bucket_of(link, peer.uid), now_ns)) {
                complain(link, now_ns, peer.uid, "too many connections");
                return 0;
        }
        agent = place_for(link, peer.uid, now_ns);
        if (!agent || watch(link, fd, agent) < 0)
                return 0;
        *agent = (struct agent){ .fd = take_fd(&fd), .uid = peer.uid, .order = ++link->orders };
        choose_speaker(link, now_ns);
        return 1;
}

/* All that wait, so that one user's flood does not keep others in the queue. After a connection too many it pauses. */
static void accept_agents(struct focus_link *link, uint64_t now_ns)
{
        uint64_t begin_ns = util_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        bool refused = false;
        int err = 0;

        for (int i = 0; i < QUEUE && err >= 0; i++) {
                err = accept_agent(link, now_ns);
                refused = refused || err == 0;
        }
        if (err == -EMFILE || err == -ENFILE || err == -ENOBUFS || err == -ENOMEM)
                let_in(link, false);
        else if (refused)
                pause_accepting(link,
                                MAX(PAUSE_NS, ACCEPT_PART * (util_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns)));
}

/*
 * If the process has ended, only the app id is used. If the pid belongs to another user, the focus is
 * unknown.
 */
static void believe(struct focus_link *link, struct agent *agent, struct focus_message *message)
{
        int err = message->pid ? focus_pid_check(link->root_fd, message->pid, message->start_time, agent->uid) : 0;

        if (err) {
                message->pid = 0;
                message->start_time = 0;
        }
        if (err == -EPERM || (err && !*message->app_id)) {
                message->have &= ~(uint32_t)(FOCUS_KNOWN | FOCUS_APP);
                message->app_id[0] = '\0';
        }
}

/*
 * An ended process plays nothing. An app in a sandbox may have given PipeWire its pid inside the sandbox,
 * which outside is another user's process. In that case an unknown process plays.
 */
static void hear_sound(struct focus_link *link, struct agent *agent, const struct focus_sound *sound)
{
        agent->others = sound->others;
        agent->n_players = 0;
        for (size_t i = 0; i < sound->n; i++) {
                const struct focus_player *player = &sound->players[i];
                int err = focus_pid_check(link->root_fd, player->pid, player->start_time, agent->uid);

                if (!err)
                        agent->players[agent->n_players++] = player->pid;
                else if (err == -EPERM)
                        agent->others = 1;
        }
        tell_sound(link);
}

static void hear_focus(struct focus_link *link, struct agent *agent, struct focus_message message, uint64_t now_ns)
{
        believe(link, agent, &message);
        message.boottime_ns = MAX(message.boottime_ns, now_ns > OLDEST_NS ? now_ns - OLDEST_NS : 0);
        if (agent->heard)
                message.boottime_ns = MAX(message.boottime_ns, agent->last.boottime_ns);
        agent->last = message;
        agent->heard = true;
        agent->ticks = message.have & FOCUS_TICK;
        if (agent == link->speaker)
                tell(link, message.boottime_ns);
}

static void hear_screen(struct focus_link *link, struct agent *agent, const struct focus_screen *screen)
{
        agent->refresh_mhz = screen->refresh_mhz;
        if (agent == link->speaker)
                tell_refresh(link);
}

/* The first bytes of a message determine its type. */
static int check_message(const void *bytes, uint32_t magic, size_t length, uint64_t now_ns)
{
        union {
                struct focus_message focus;
                struct focus_sound sound;
                struct focus_screen screen;
        } ignored;

        switch (magic) {
        case FOCUS_SOUND_MAGIC:
                return focus_sound_check(bytes, length, &ignored.sound);
        case FOCUS_SCREEN_MAGIC:
                return focus_screen_check(bytes, length, &ignored.screen);
        default:
                return focus_message_check(bytes, length, now_ns, &ignored.focus);
        }
}

static void hear(struct focus_link *link, struct agent *agent, uint64_t now_ns)
{
        union {
                uint32_t magic;
                struct focus_message focus;
                struct focus_sound sound;
                struct focus_screen screen;
                char bytes[1024]; /* larger than any message, to detect longer ones */
        } in = { 0 };
        ssize_t n = recv(agent->fd, &in, sizeof(in), MSG_DONTWAIT | MSG_TRUNC);
        int err;

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                hang_up(link, agent, now_ns);
                return;
        }
        err = check_message(&in, in.magic, (size_t)n, now_ns);
        if (!err && !focus_bucket_take(bucket_of(link, agent->uid), now_ns))
                err = -EBUSY;
        if (err) {
                complain(link, now_ns, agent->uid,
                         err == -EBUSY    ? "too many messages"
                         : err == -EPROTO ? "another version of the protocol"
                                          : "invalid message");
                hang_up(link, agent, now_ns);
        } else if (in.magic == FOCUS_SOUND_MAGIC) {
                hear_sound(link, agent, &in.sound);
        } else if (in.magic == FOCUS_SCREEN_MAGIC) {
                hear_screen(link, agent, &in.screen);
        } else {
                hear_focus(link, agent, in.focus, now_ns);
        }
}

void focus_link_dispatch(struct focus_link *link, uint64_t now_ns)
{
        struct epoll_event events[AGENTS_MAX + 2];
        int n = epoll_wait(link->epoll_fd, events, ARRAY_SIZE(events), 0);
        bool waiting = false;

        for (int i = 0; i < n; i++) {
                struct agent *agent = events[i].data.ptr;

                if (events[i].data.ptr == &link->listen_fd)
                        waiting = true;
                else if (events[i].data.ptr == &link->timer_fd)
                        end_pause(link);
                else if (agent->fd >= 0)
                        hear(link, agent, now_ns);
        }
        if (waiting)
                accept_agents(link, now_ns);
}

void focus_link_tick(struct focus_link *link)
{
        struct focus_tick tick = { .magic = FOCUS_MAGIC };

        if (link->shut)
                let_in(link, true);
        for (size_t i = 0; i < AGENTS_MAX; i++)
                if (link->agents[i].fd >= 0 && link->agents[i].ticks)
                        (void)!send(link->agents[i].fd, &tick, sizeof(tick), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void focus_link_recheck(struct focus_link *link, uint64_t now_ns)
{
        choose_speaker(link, now_ns);
}
