/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "app/app-private.h"
#include "util/local-socket.h"
#include "util/paths.h"
#include "util/util.h"

void sender_close(struct sender *sender)
{
        closep(&sender->fd);
        sender->fd = -1;
}

/*
 * Others' flood fills the queue of the socket while it pauses (focus-link.c): who does not wait hardly ever finds a
 * place in it. All else is sent and received without waiting.
 */
static const struct timeval patience = { .tv_sec = 1 };

bool sender_connect(struct sender *sender, uint64_t now_ns)
{
        _cleanup_free_ char *usual = NULL;
        const char *path = sender->path;
        int fd;

        if (sender->fd >= 0 || !backoff_due(&sender->backoff, now_ns))
                return false;
        if (!path && paths_focus_socket(&usual) == 0)
                path = usual;
        fd = path ? local_socket_connect(path, SOCK_SEQPACKET, &patience) : -ENOENT;
        if (fd < 0) {
                backoff_failed(&sender->backoff, now_ns);
                if (!sender->refused)
                        log_info(sender->log, "%s: %s; waiting for the service", path ? path : PATHS_FOCUS_SOCKET,
                                 strerror(-fd));
                sender->refused = true;
                return false;
        }
        sender->fd = fd;
        sender->refused = false;
        backoff_succeeded(&sender->backoff, now_ns);
        return true;
}

static uint64_t start_time(pid_t pid)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct app_process process;
        char comm[32];

        return app_process_read(root_fd, pid, &process, comm, sizeof(comm)) == 0 ? process.start_time : 0;
}

static void send_bytes(struct sender *sender, const void *bytes, size_t size, uint64_t now_ns)
{
        if (send(sender->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size)
                return;
        sender_close(sender);
        backoff_failed(&sender->backoff, now_ns);
}

void sender_send_sound(struct sender *sender, const struct pipewire_sound *sound, uint64_t now_ns)
{
        struct focus_sound message = {
                .magic = FOCUS_SOUND_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message), .others = sound->others,
        };

        if (sender->fd < 0)
                return;
        for (size_t i = 0; i < sound->n; i++) {
                struct focus_player player = { .pid = sound->pids[i], .start_time = start_time(sound->pids[i]) };

                if (player.start_time)
                        message.players[message.n++] = player;
                else
                        message.others = 1;
        }
        send_bytes(sender, &message, sizeof(message), now_ns);
}

void sender_send_screen(struct sender *sender, uint32_t refresh_mhz, uint64_t now_ns)
{
        const struct focus_screen message = {
                .magic = FOCUS_SCREEN_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                        .refresh_mhz = refresh_mhz,
        };

        if (sender->fd >= 0)
                send_bytes(sender, &message, sizeof(message), now_ns);
}

void sender_send(struct sender *sender, const struct focus_state *state, uint64_t since_ns, bool tick,
                 uint64_t now_ns)
{
        struct focus_message message = {
                .magic = FOCUS_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                        .boottime_ns = since_ns,
        };

        if (sender->fd < 0)
                return;
        if (state->known)
                message.have |= FOCUS_KNOWN;
        if (state->locked)
                message.have |= FOCUS_LOCKED;
        if (tick)
                message.have |= FOCUS_TICK;
        if (state->known && !state->locked) {
                message.start_time = state->pid > 0 ? start_time(state->pid) : 0;
                message.pid = message.start_time ? state->pid : 0; /* the process may have ended */
                memcpy(message.app_id, state->app_id, strlen(state->app_id));
                if (message.pid || *message.app_id)
                        message.have |= FOCUS_APP;
                else if (state->pid)
                        message.have &= ~(uint32_t)FOCUS_KNOWN; /* an app has the focus, but it is not known which */
        }
        send_bytes(sender, &message, sizeof(message), now_ns);
}

bool sender_dispatch(struct sender *sender, uint64_t now_ns)
{
        struct focus_tick tick;
        ssize_t n = recv(sender->fd, &tick, sizeof(tick), MSG_DONTWAIT);

        if (n == (ssize_t)sizeof(tick))
                return tick.magic == FOCUS_MAGIC;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        sender_close(sender);
        backoff_failed(&sender->backoff, now_ns);
        return false;
}
