/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "poller.h"
#include "util/local-socket.h"
#include "util/units.h"
#include "util/util.h"

/* Any user may connect, so a user's connections are limited in number and time. */
#define CLIENTS_OF_ONE_USER 4
#define QUEUE 128 /* connections not accepted yet */
#define PATIENCE_NS (5 * NS_PER_S)

struct client {
        int fd; /* -1: unused */
        uid_t uid;
        uint64_t deadline_ns;
        size_t n;
        char *answer; /* NULL: the question is not complete yet */
        size_t length, sent;
        char text[SERVICE_REQUEST_MAX];
};

struct answers {
        int fd;
        char *path; /* removed at the end */
        const struct question_source *source;
        uint64_t share_ns, spent_ns;
        size_t first; /* the client to be served next */
        struct client clients[ANSWERS_CLIENTS_MAX];
};

static void drop(struct client *client)
{
        closep(&client->fd);
        free(client->answer);
        client->fd = -1;
        client->answer = NULL;
}

void answers_close(struct answers *answers)
{
        if (!answers)
                return;
        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++)
                drop(&answers->clients[i]);
        closep(&answers->fd);
        if (answers->path)
                unlink(answers->path);
        free(answers->path);
        free(answers);
}

int answers_open(const char *path, const struct question_source *source, uint64_t share_ns,
                 const struct log *log, struct answers **ret)
{
        struct answers *answers = calloc(1, sizeof(*answers));
        char *copy = strdup(path);
        int err = answers && copy ? 0 : -ENOMEM;

        if (err == 0) {
                answers->fd = local_socket_listen(path, SOCK_STREAM, QUEUE);
                err = MIN(answers->fd, 0);
        }
        if (err < 0) {
                log_error(log, "cannot answer users at the socket %s: %s", path, strerror(-err));
                free(copy);
                free(answers);
                return err;
        }
        answers->path = copy;
        answers->source = source;
        answers->share_ns = share_ns;
        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++)
                answers->clients[i].fd = -1;
        *ret = answers;
        return 0;
}

/* The time for answers until the next poll is used up. */
static bool is_share_spent(const struct answers *answers)
{
        return answers->spent_ns >= answers->share_ns;
}

/* ANSWERS_CLIENTS_MAX: none. Then new connections wait in the queue of the socket. */
static size_t free_place(const struct answers *answers)
{
        size_t i = 0;

        while (i < ANSWERS_CLIENTS_MAX && answers->clients[i].fd >= 0)
                i++;
        return i;
}

void answers_watch(const struct answers *answers, struct pollfd fds[ANSWERS_FDS])
{
        bool awake = answers && !is_share_spent(answers);

        fds[0] = (struct pollfd){ .fd = awake && free_place(answers) < ANSWERS_CLIENTS_MAX ? answers->fd : -1,
                                  .events = POLLIN };
        for (size_t i = 0; i < ANSWERS_CLIENTS_MAX; i++)
                fds[i + 1] = (struct pollfd){ .fd = awake ? answers->clients[i].fd : -1,
                                              .events = awake && answers->clients[i].answer ? POLLOUT : POLLIN };
}

uint64_t answers_deadline_ns(const struct answers *answers)
{
        uint64_t first_ns = UINT64_MAX;

        if (!answers || is_share_spent(answers))
                return first_ns;
        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++) {
                if (answers->clients[i].fd >= 0)
                        first_ns = MIN(first_ns, answers->clients[i].deadline_ns);
        }
        return first_ns;
}

static size_t count_of_user(const struct answers *answers, uid_t uid)
{
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++)
                n += answers->clients[i].fd >= 0 && answers->clients[i].uid == uid;
        return n;
}

/* Accepts one connection; poll() reports the others again. */
static void let_in(struct answers *answers, uint64_t now_ns)
{
        _cleanup_close_ int fd = accept4(answers->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        size_t at = free_place(answers);
        struct client *place;
        struct ucred peer;
        socklen_t size = sizeof(peer);

        if (fd < 0) {
                /* No descriptor is free: wait for the next poll instead of trying again at once. */
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                        answers->spent_ns = answers->share_ns;
                return;
        }
        if (at == ANSWERS_CLIENTS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
            count_of_user(answers, peer.uid) >= CLIENTS_OF_ONE_USER)
                return;
        place = &answers->clients[at];
        place->fd = take_fd(&fd);
        place->uid = peer.uid;
        place->n = place->length = place->sent = 0;
        place->deadline_ns = now_ns + PATIENCE_NS;
}

static void give(struct client *client)
{
        ssize_t n = send(client->fd, client->answer + client->sent, client->length - client->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
                drop(client);
                return;
        }
        client->sent += n > 0 ? (size_t)n : 0;
        if (client->sent == client->length)
                drop(client);
}

/* Receives. The length of the question when it is complete; -1: not yet. */
static ssize_t take(struct client *client)
{
        ssize_t n = recv(client->fd, client->text + client->n, sizeof(client->text) - client->n,
                         MSG_DONTWAIT);
        const char *end;

        if (n < 0) {
                if (errno != EAGAIN && errno != EINTR)
                        drop(client);
                return -1;
        }
        client->n += (size_t)n;
        end = memchr(client->text, '\n', client->n);
        if (end)
                return end - client->text;
        if (n == 0 && client->n == 0)
                drop(client); /* the client only checked that the service runs */
        return n == 0 && client->n > 0 ? (ssize_t)client->n : -1;
}

/* true: an answer was made. */
static bool serve(const struct answers *answers, struct client *client)
{
        ssize_t length;

        if (client->answer) {
                give(client);
                return false;
        }
        length = take(client);
        if (length >= 0)
                client->answer = question_answer(answers->source, client->uid, client->text, (size_t)length);
        else if (client->fd >= 0 && client->n == sizeof(client->text))
                client->answer = question_refuse(-EINVAL, "a question is shorter than 4096 bytes");
        else
                return false;
        if (!client->answer) {
                drop(client);
                return true;
        }
        client->length = strlen(client->answer);
        client->deadline_ns = util_boottime_ns() + PATIENCE_NS;
        give(client);
#ifdef __GLIBC__
        malloc_trim(0); /* return the memory of the answer to the system */
#endif
        return true;
}

void answers_serve(struct answers *answers, const struct pollfd fds[ANSWERS_FDS], uint64_t now_ns)
{
        bool answered = false;

        if (!answers)
                return;
        for (size_t k = 0, first = answers->first; k < ANSWERS_CLIENTS_MAX; k++) {
                size_t i = (first + k) % ANSWERS_CLIENTS_MAX;
                struct client *client = &answers->clients[i];

                if (client->fd < 0 || client->fd != fds[i + 1].fd)
                        continue;
                if (fds[i + 1].revents && answered && !client->answer)
                        continue; /* one answer per call */
                if (fds[i + 1].revents && serve(answers, client)) {
                        answered = true;
                        answers->first = i + 1;
                }
                if (client->fd >= 0 && now_ns >= client->deadline_ns)
                        drop(client);
        }
        if (fds[0].revents)
                let_in(answers, now_ns);
        answers->spent_ns += util_boottime_ns() - now_ns;
}

void answers_rest(struct answers *answers)
{
        if (answers)
                answers->spent_ns = 0;
}
