/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The link between the agents and the service, with every message that it must not believe. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/app-private.h"
#include "check.h"
#include "child.h"
#include "focus-fixture.h"
#include "focus/focus.h"
#include "tree.h"
#include "util/units.h"
#include "util/util.h"

struct hearing {
        int n;
        bool known;
        struct focus_message last;
        uint64_t at_ns;
        uid_t only;
        int n_sound;
        uint32_t refresh_mhz;
        size_t n_players, others;
        pid_t players[4];
};

static bool may_speak(void *data, uid_t uid)
{
        const struct hearing *hearing = data;

        return hearing->only == (uid_t)-1 || hearing->only == uid;
}

static void heard(void *data, const struct focus_message *message, uint64_t boottime_ns)
{
        struct hearing *hearing = data;

        hearing->n++;
        hearing->known = message && (message->have & FOCUS_KNOWN);
        hearing->at_ns = boottime_ns;
        if (message)
                hearing->last = *message;
}

static void sound(void *data, const pid_t *pids, size_t n, size_t others)
{
        struct hearing *hearing = data;

        hearing->n_sound++;
        hearing->n_players = n;
        hearing->others = others;
        for (size_t i = 0; i < n && i < ARRAY_SIZE(hearing->players); i++)
                hearing->players[i] = pids[i];
}

static void refresh(void *data, uint32_t mhz)
{
        ((struct hearing *)data)->refresh_mhz = mhz;
}

static const struct focus_link_ops ops = { may_speak, heard, sound, refresh };
static char folder[] = "/tmp/joulecast-focus-XXXXXX";
static char path[64];

static int connect_agent(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        check_int(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
        return fd;
}

/* Connects as user @uid: the kernel reports the peer's uid. */
static int connect_agent_of(uid_t uid)
{
        int fd;

        check_int(seteuid(uid), 0);
        fd = connect_agent();
        check_int(seteuid(0), 0);
        return fd;
}

static void say(struct focus_link *link, int fd, const struct focus_message *message, size_t length,
                uint64_t now_ns)
{
        check_int(send(fd, message, length, MSG_NOSIGNAL), length);
        focus_link_dispatch(link, now_ns);
}

static bool is_hung_up(int fd)
{
        char byte;

        return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static uint64_t own_start_time(void)
{
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct app_process process = { 0 };
        char comm[32];

        check_int(app_process_read(root_fd, getpid(), &process, comm, sizeof(comm)), 0);
        close(root_fd);
        return process.start_time;
}

static void link_believes(void)
{
        struct hearing hearing = { .only = (uid_t)-1 };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, newer;
        struct focus_link *link = NULL, *second = NULL;
        struct focus_message message = good();
        struct focus_tick tick;
        uint64_t now = NOW;

        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link), 0);
        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &second), -EADDRINUSE);
        focus_link_dispatch(link, now);
        fd = connect_agent();
        focus_link_dispatch(link, now);
        say(link, fd, &message, sizeof(message), now);
        check(hearing.known);
        check_text(hearing.last.app_id, "foot");

        message.pid = getpid(); /* a pid of one's own, with its start time */
        message.start_time = own_start_time();
        message.boottime_ns = now += NS_PER_S;
        say(link, fd, &message, sizeof(message), now);
        check_int(hearing.last.pid, getpid());
        check_int(hearing.at_ns, now);

        message.start_time++; /* a reused one: the name stays */
        say(link, fd, &message, sizeof(message), now += NS_PER_S);
        check_int(hearing.last.pid, 0);
        check_text(hearing.last.app_id, "foot");

        memset(message.app_id, 0, sizeof(message.app_id)); /* without a name, the app is unknown */
        say(link, fd, &message, sizeof(message), now += NS_PER_S);
        check(!hearing.known);

        message = good(); /* older than the last message and the connection: its time is not changed */
        message.boottime_ns = 1;
        say(link, fd, &message, sizeof(message), now += NS_PER_S);
        check(hearing.known && hearing.at_ns >= now - 5 * NS_PER_S);

        focus_link_tick(link);
        check(recv(fd, &tick, sizeof(tick), MSG_DONTWAIT) < 0); /* it did not ask for one */
        message.have |= FOCUS_TICK;
        message.boottime_ns = now += NS_PER_S;
        say(link, fd, &message, sizeof(message), now);
        focus_link_tick(link);
        check_int(recv(fd, &tick, sizeof(tick), MSG_DONTWAIT), sizeof(tick));

        newer = connect_agent(); /* the same user's newest connection wins */
        focus_link_dispatch(link, now);
        check(!hearing.known && is_hung_up(fd));
        say(link, newer, &message, sizeof(message), now);
        check(hearing.known);
        close(fd);

        hearing.only = getuid() + 1; /* another user has the seat now */
        focus_link_recheck(link, now);
        check(!hearing.known);
        hearing.only = (uid_t)-1;
        focus_link_recheck(link, now);
        check(hearing.known);

        close(newer); /* an agent that dies leaves "unknown", never "no app" */
        focus_link_dispatch(link, now);
        check(!hearing.known);
        focus_link_close(link);
        check(access(path, F_OK) < 0);
        close(root_fd);
}

static void say_sound(struct focus_link *link, int fd, pid_t pid, uint64_t start_time, bool others)
{
        struct focus_sound message = { .magic = FOCUS_SOUND_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                                       .n = pid > 0, .others = others, .players = { { pid, 0, start_time } } };

        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        focus_link_dispatch(link, NOW);
}

/* Sound is of all users, and no process is another user's or another one's of before. */
static void link_hears_sound(void)
{
        struct hearing hearing = { .only = getuid() };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, other = -1;
        struct focus_message message = good();
        struct focus_link *link = NULL;

        check_int(chmod(folder, 0711), 0);
        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link), 0);
        fd = connect_agent();
        focus_link_dispatch(link, NOW);
        say(link, fd, &message, sizeof(message), NOW);
        say_sound(link, fd, getpid(), own_start_time(), false);
        check(hearing.n_sound == 1 && hearing.n_players == 1 && hearing.players[0] == getpid() && hearing.others == 0);
        check(hearing.known);
        say_sound(link, fd, getpid(), own_start_time() + 1, true);
        check(hearing.n_sound == 2 && hearing.n_players == 0 && hearing.others == 1);
        say_sound(link, fd, getpid(), own_start_time(), false);
        if (getuid() == 0) {
                other = connect_agent_of(12345);
                focus_link_dispatch(link, NOW);
                say_sound(link, other, getpid(), own_start_time(), false); /* an unknown player */
                check(hearing.n_sound == 4 && hearing.n_players == 1 && hearing.others == 1);
        }
        close(fd); /* an agent that died plays nothing */
        focus_link_dispatch(link, NOW);
        check(hearing.n_players == 0 && hearing.others == (other >= 0));
        check(other < 0 || close(other) == 0);
        focus_link_dispatch(link, NOW);
        check(hearing.n_players == 0 && hearing.others == 0);
        fd = connect_agent();
        focus_link_dispatch(link, NOW);
        say_sound(link, fd, 0, 0, false);
        check(!is_hung_up(fd));
        check_int(send(fd, &(uint32_t){ FOCUS_SOUND_MAGIC }, 4, MSG_NOSIGNAL), 4);
        focus_link_dispatch(link, NOW);
        check(is_hung_up(fd));
        close(fd);
        focus_link_close(link);
        check_int(chmod(folder, 0700), 0);
        close(root_fd);
}

/* The refresh rate is the accepted agent's alone, and goes with it. */
static void link_hears_refresh(void)
{
        struct focus_screen message = { .magic = FOCUS_SCREEN_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                                        .refresh_mhz = 120000 };
        struct hearing hearing = { .only = getuid() + 1 };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
        struct focus_link *link = NULL;

        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link), 0);
        fd = connect_agent();
        focus_link_dispatch(link, NOW);
        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        focus_link_dispatch(link, NOW);
        check_int(hearing.refresh_mhz, 0);
        hearing.only = getuid(); /* now its user has the seat */
        focus_link_recheck(link, NOW);
        check_int(hearing.refresh_mhz, 120000);
        message.refresh_mhz = 60000;
        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        focus_link_dispatch(link, NOW);
        check_int(hearing.refresh_mhz, 60000);
        message.zero = 1;
        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        focus_link_dispatch(link, NOW);
        check(is_hung_up(fd));
        check_int(hearing.refresh_mhz, 0);
        close(fd);
        focus_link_close(link);
        close(root_fd);
}

/* Waits until it is readable: a pause ends, or an agent connects or sends something. */
static void wait_for(struct focus_link *link, uint64_t now)
{
        struct pollfd readable = { .fd = focus_link_fd(link), .events = POLLIN };

        check_int(poll(&readable, 1, 20000), 1);
        focus_link_dispatch(link, now);
}

static void link_hangs_up(void)
{
        static const size_t lengths[] = { 1, 159, 161, 319, 320, 4096 };
        struct hearing hearing = { .only = (uid_t)-1 };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
        struct focus_link *link = NULL;
        struct focus_message message = good();
        char large[4096];
        uint64_t now = NOW;
        int flood[50];

        memset(large, 0, sizeof(large));
        memcpy(large, &message, sizeof(message));
        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link), 0);
        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                fd = connect_agent();
                focus_link_dispatch(link, now += NS_PER_S);
                check_int(send(fd, large, lengths[i], MSG_NOSIGNAL), lengths[i]);
                focus_link_dispatch(link, now);
                check(is_hung_up(fd));
                check(!hearing.known);
                close(fd);
        }
        fd = connect_agent(); /* a flood: hung up on, and no state of it stays */
        focus_link_dispatch(link, now += 10 * NS_PER_S);
        message.boottime_ns = now;
        for (int i = 0; i < 100; i++)
                if (send(fd, &message, sizeof(message), MSG_NOSIGNAL) > 0)
                        focus_link_dispatch(link, now);
        check(is_hung_up(fd));
        check(!hearing.known);
        close(fd);
        fd = connect_agent(); /* connecting again and again is no way around it */
        focus_link_dispatch(link, now);
        check(is_hung_up(fd));
        close(fd);
        for (size_t i = 0; i < ARRAY_SIZE(flood); i++) { /* no agent is accepted for a while */
                flood[i] = connect_agent();
                focus_link_dispatch(link, now);
        }
        check(!is_hung_up(flood[0]));
        for (size_t i = 0; i < ARRAY_SIZE(flood); i++) {
                while (!is_hung_up(flood[i]))
                        wait_for(link, now);
                close(flood[i]);
        }
        fd = connect_agent();
        now += 5 * NS_PER_S;
        wait_for(link, now);
        wait_for(link, now);
        check(!is_hung_up(fd));
        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        wait_for(link, now);
        check(hearing.known);
        close(fd);
        focus_link_close(link);
        close(root_fd);
}

/* A user with a range of subordinate uids takes all places before the user of the screen connects. Needs root. */
static void link_is_crowded(void)
{
        struct hearing hearing = { .only = 1000 };
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), crowd[20], fd, late;
        struct focus_link *link = NULL;
        struct focus_message message = good();

        if (getuid() != 0)
                return;
        check_int(chmod(folder, 0711), 0);
        check_int(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link), 0);
        for (size_t i = 0; i < ARRAY_SIZE(crowd); i++) {
                crowd[i] = connect_agent_of(100000 + (uid_t)i);
                focus_link_dispatch(link, NOW);
        }
        while (!is_hung_up(crowd[19])) /* after the first one too many it pauses */
                wait_for(link, NOW);
        check(!is_hung_up(crowd[1]));
        fd = connect_agent_of(1000);
        while (!is_hung_up(crowd[0]))
                wait_for(link, NOW);
        check(!is_hung_up(fd) && !is_hung_up(crowd[1]));
        say(link, fd, &message, sizeof(message), NOW);
        check(hearing.known);
        late = connect_agent_of(100020);
        while (!is_hung_up(late))
                wait_for(link, NOW);
        check(!is_hung_up(fd) && !is_hung_up(crowd[1]));
        for (size_t i = 0; i < ARRAY_SIZE(crowd); i++)
                close(crowd[i]);
        close(late);
        close(fd);
        focus_link_close(link);
        check_int(chmod(folder, 0700), 0);
        close(root_fd);
}

/* Without free descriptors, a waiting agent does not keep the service awake, and is accepted at a later poll. */
static void link_is_out_of_files(void)
{
        struct hearing hearing = { .only = (uid_t)-1 };
        struct focus_message message = good();
        struct focus_link *link = NULL;
        struct rlimit before, few;
        struct pollfd wait = { .events = POLLIN };
        int fd;

        check_int(focus_link_open(path, AT_FDCWD, &ops, &hearing, NULL, &link), 0);
        fd = connect_agent();
        check_int(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = (struct rlimit){ .rlim_cur = (rlim_t)fd + 1, .rlim_max = before.rlim_max };
        check_int(setrlimit(RLIMIT_NOFILE, &few), 0);
        wait.fd = focus_link_fd(link);
        check_int(poll(&wait, 1, 0), 1);
        focus_link_dispatch(link, NOW);
        check_int(poll(&wait, 1, 0), 0);
        check_int(setrlimit(RLIMIT_NOFILE, &before), 0);
        focus_link_tick(link);
        focus_link_dispatch(link, NOW);
        say(link, fd, &message, sizeof(message), NOW);
        check(hearing.known);
        close(fd);
        focus_link_close(link);
}

/* A file at the socket's path is removed only if it is a dead socket. */
static void link_in_the_way(void)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        struct focus_link *link = NULL;
        char dir[] = "/tmp/joulecast-way-XXXXXX";
        int busy = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fds[4];

        check(mkdtemp(dir) != NULL);
        snprintf(address.sun_path, sizeof(address.sun_path), "%s/focus.sock", dir);
        check_int(util_write_file(address.sun_path, "mine", 4, 0600), 0);
        check_int(focus_link_open(address.sun_path, -1, NULL, NULL, NULL, &link), -EEXIST);
        check_int(unlink(address.sun_path), 0);
        check(bind(busy, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(busy, 0) == 0);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++) { /* until the backlog is full */
                fds[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
                (void)!connect(fds[i], (struct sockaddr *)&address, sizeof(address));
        }
        check_int(focus_link_open(address.sun_path, -1, NULL, NULL, NULL, &link), -EADDRINUSE);
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                closep(&fds[i]);
        closep(&busy);
        check_int(focus_link_open(address.sun_path, -1, NULL, NULL, NULL, &link), 0);
        focus_link_close(link);
        check_int(rmdir(dir), 0);
}

/* Another user's process: only root can try. */
static void foreign_pid(void)
{
        struct focus_message message = good();
        int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        message.pid = getpid();
        message.start_time = own_start_time();
        check_int(focus_pid_check(root_fd, message.pid, message.start_time, getuid()), 0);
        check_int(focus_pid_check(root_fd, message.pid, message.start_time, getuid() + 1), -EPERM);
        check_int(focus_pid_check(root_fd, message.pid, message.start_time, 0), 0);
        if (getuid() == 0) { /* in a company's domain a user may be in hundreds of groups, with large numbers */
                gid_t groups[600];

                for (unsigned i = 0; i < ARRAY_SIZE(groups); i++)
                        groups[i] = 2000000000 + i;
                check_int(setgroups(ARRAY_SIZE(groups), groups), 0);
                check_int(focus_pid_check(root_fd, message.pid, message.start_time, getuid()), 0);
                check_int(setgroups(0, NULL), 0);
        }
        message.pid = 0x3fffffff;
        check_int(focus_pid_check(root_fd, message.pid, message.start_time, getuid()), -ESRCH);
        close(root_fd);
}

/* Makes a cgroup v2 folder, in which a file notifies of changes like tty0/active. NULL: none can be made. */
static const char *make_group(void)
{
        static char group[300];
        char mount[256] = "";
        FILE *mounts = fopen("/proc/self/mounts", "re");
        bool found = false;

        while (mounts && !found && fscanf(mounts, "%*s %255s %299[^\n]\n", mount, group) == 2)
                found = strncmp(group, "cgroup2 ", 8) == 0;
        if (mounts)
                fclose(mounts);
        snprintf(group, sizeof(group), "%s/joulecast-focus-%d", mount, (int)getpid());
        return found && mkdir(group, 0700) == 0 ? group : NULL;
}

static bool is_ready(const struct source *source, int timeout_ms)
{
        struct pollfd wait = { .fd = source->ops->fd(source), .events = POLLIN };

        return poll(&wait, 1, timeout_ms) > 0;
}

/* Moves a child into the group, which notifies of that. */
static void enter_group(const char *group)
{
        char procs[320];
        pid_t child = start_child();

        if (child == 0) {
                snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
                _exit(write(open(procs, O_WRONLY | O_CLOEXEC), "0", 1) != 1);
        }
        check_int(waitpid(child, NULL, 0), child);
}

/* A user who switches to another terminal while an agent reports does not keep the service awake. */
static void terminal_is_heard_once(void)
{
        const char *group = make_group();
        struct focus_options options = { .root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                         .console = true, .socket_path = path };
        struct focus_message message = good();
        struct source *source = NULL;
        static const char foot[] = "7 (foot) S 1 7 7 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0 0\n";
        char events[320], active[128], process[128];
        int fd;

        if (!group)
                return; /* only root can make one */
        snprintf(active, sizeof(active), "%s/sys/class/tty/tty0/active", folder);
        snprintf(events, sizeof(events), "%s/cgroup.events", group);
        check(util_make_parent(active, 0755) == 0 && symlink(events, active) == 0);
        snprintf(process, sizeof(process), "%s/proc/7/stat", folder);
        check(util_make_parent(process, 0755) == 0 && util_write_file(process, foot, strlen(foot), 0644) == 0);
        check_int(apps_new(options.root_fd, NULL, &options.apps), 0);
        check_int(focus_open(&options, &source), 0);
        fd = connect_agent();
        source->ops->hear(source, NOW);
        check_int(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
        source->ops->hear(source, NOW);
        check(focus_now(source)->foreground_known && !is_ready(source, 0));
        enter_group(group);
        check(is_ready(source, 1000));
        usleep(100000); /* it enters and leaves: two events */
        source->ops->hear(source, NOW);
        check(!is_ready(source, 0));
        source->ops->close(source);
        apps_free(options.apps);
        close(fd);
        close(options.root_fd);
        check_int(rmdir(group), 0);
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        check(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/focus.sock", folder);
        link_believes();
        link_hears_sound();
        link_hears_refresh();
        link_hangs_up();
        link_is_crowded();
        link_is_out_of_files();
        link_in_the_way();
        foreign_pid();
        terminal_is_heard_once();
        tree_remove(folder);
        return check_result();
}
