/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <errno.h>
#ifdef __GLIBC__
#endif
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "answering.h"
#include "poller.h"
#include "util/local-socket.h"
#include "util/portable.h"
#include "util/subordinate.h"
#include "util/units.h"
#include "util/util.h"

/*
 * Any user may connect, so a user's connections and the time for their answers are limited; those of a user's
 * subordinate ids are the user's. Nobody may have
 * more of either than is left for all others, and the last part is reserved for root. Time is CPU time: where
 * others keep the machine busy, an answer costs its user no more. A poll that is due comes first in any case.
 */
#define CLIENTS_OF_ONE_USER 4
#define QUEUE 128 /* connections not accepted yet */
#define PATIENCE_NS (5 * NS_PER_S)
/* bytes that are read of a question that is too long, so that its sender gets the error */
#define REST_BYTES (1 << 20)
#define ACCOUNTS 64 /* users with questions since the last poll; further users share the last account */
#define ACCEPT_PART 20 /* accepting takes at most 1/20 of the time, as even turning clients away costs some */
#define ROOT_PART 8          /* 1/8 of the time for answers is reserved for root */

struct client {
        int fd; /* -1: none */
        uid_t uid, owner; /* who asks, and whose limits it counts for */
        uint64_t deadline_ns;
        bool asked; /* the question is complete */
        uint64_t turn;
        size_t n, rest; /* bytes received, and bytes beyond a question that is too long */
        char *answer;
        size_t length, sent;
        answers_reply_t reply; /* gets the answer in place of a connection, which there is none; or NULL */
        void *data;
        char text[SERVICE_REQUEST_MAX];
};

struct account {
        uid_t uid;
        uint64_t spent_ns;
};

struct answers {
        int fd;
        char *path; /* removed at the end */
        const struct question_source *source;
        uint64_t share_ns, spent_ns; /* since the last poll */
        struct account accounts[ACCOUNTS];
        size_t n_accounts;
        uint64_t turns;
        uint64_t accept_ns; /* when connections are accepted again */
        struct client clients[ANSWERS_CLIENTS_MAX];
};

static void drop(struct client *client)
{
        closep(&client->fd);
        free(client->answer);
        client->fd = -1;
        client->answer = NULL;
        client->reply = NULL;
        client->asked = false;
}

static bool is_used(const struct client *client)
{
        return client->fd >= 0 || client->reply;
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

/* Index of a user's account; n_accounts: there is none yet. */
static size_t account_of(const struct answers *answers, uid_t uid)
{
        size_t i = 0;

        while (i < answers->n_accounts && answers->accounts[i].uid != uid)
                i++;
        return MIN(i, ACCOUNTS - 1u);
}

static uint64_t spent_by(const struct answers *answers, uid_t uid)
{
        size_t i = account_of(answers, uid);

        return i < answers->n_accounts ? answers->accounts[i].spent_ns : 0;
}

static uint64_t worked_ns(void)
{
        return util_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void charge(struct answers *answers, uid_t uid, uint64_t since_ns)
{
        size_t i = account_of(answers, uid);
        uint64_t spent_ns = worked_ns() - since_ns;

        if (i == answers->n_accounts)
                answers->accounts[answers->n_accounts++] = (struct account){ .uid = uid };
        answers->accounts[i].spent_ns += spent_ns;
        answers->spent_ns += spent_ns;
}

static bool has_time(const struct answers *answers, uid_t uid)
{
        uint64_t all_ns = answers->share_ns - (uid == 0 ? 0 : answers->share_ns / ROOT_PART),
                 left_ns = all_ns - MIN(answers->spent_ns, all_ns);

        return left_ns > 0 && (uid == 0 || spent_by(answers, uid) <= left_ns);
}

/* The next question to answer: the first one of the user who took the least time. */
static struct client *next_client(struct answers *answers)
{
        struct client *next = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++) {
                struct client *client = &answers->clients[i];
                uint64_t spent_ns;

                if (!client->asked || !has_time(answers, client->owner))
                        continue;
                spent_ns = spent_by(answers, client->owner);
                if (!next || spent_ns < spent_by(answers, next->owner) ||
                    (spent_ns == spent_by(answers, next->owner) && client->turn < next->turn))
                        next = client;
        }
        return next;
}

/* A client that waits for its turn, or whose user has no time left, is only watched for a hang-up. */
void answers_watch(const struct answers *answers, struct pollfd fds[ANSWERS_FDS])
{
        bool accepts = answers && util_boottime_ns() >= answers->accept_ns;

        fds[0] = (struct pollfd){ .fd = accepts ? answers->fd : -1, .events = POLLIN };
        for (size_t i = 0; i < ANSWERS_CLIENTS_MAX; i++) {
                const struct client *client = answers ? &answers->clients[i] : NULL;

                fds[i + 1] = (struct pollfd){ .fd = client ? client->fd : -1 };
                if (client && client->fd >= 0 && !client->asked && has_time(answers, client->owner))
                        fds[i + 1].events = client->answer ? POLLOUT : POLLIN;
        }
}

uint64_t answers_deadline_ns(struct answers *answers)
{
        uint64_t first_ns = UINT64_MAX;

        if (!answers)
                return first_ns;
        if (next_client(answers))
                return 0;
        if (answers->accept_ns > util_boottime_ns())
                first_ns = answers->accept_ns;
        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++) {
                if (answers->clients[i].fd >= 0 && !answers->clients[i].asked)
                        first_ns = MIN(first_ns, answers->clients[i].deadline_ns);
        }
        return first_ns;
}

static bool is_gone(int fd)
{
        struct pollfd gone = { .fd = fd };

        return poll(&gone, 1, 0) < 0 || (gone.revents & POLLHUP);
}

/*
 * Finds room for one more connection of this user; NULL: there is none. Clients that hung up are removed
 * first.
 */
static struct client *find_place(struct answers *answers, uid_t owner)
{
        struct client *place = NULL;
        size_t n = 0, n_free = 0;

        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++) {
                struct client *client = &answers->clients[i];

                if (client->fd >= 0 && client->owner == owner && is_gone(client->fd))
                        drop(client);
                n += is_used(client) && client->owner == owner;
                n_free += !is_used(client);
                if (!is_used(client))
                        place = client;
        }
        return n < CLIENTS_OF_ONE_USER && (owner == 0 || n + 1 < n_free) ? place : NULL;
}

/* Reads the question first: closing with unread bytes would discard the answer. */
static void turn_away(int fd)
{
        char question[SERVICE_REQUEST_MAX];
        static const char words[] = "{\"error\":\"EBUSY\",\"sentence\":\"the service is busy with other questions "
                                    "of yours; ask again\"}\n";

        (void)!recv(fd, question, sizeof(question), MSG_DONTWAIT);
        (void)!send(fd, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Accepts one connection. Returns false if there is none. */
static bool let_in(struct answers *answers, uint64_t now_ns)
{
        _cleanup_close_ int fd = accept4(answers->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct client *place;
        struct ucred peer;
        socklen_t size = sizeof(peer);
        uid_t owner;

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
                return true;
        if (fd < 0 && errno != EAGAIN) /* there are no free descriptors */
                answers->accept_ns = now_ns + NS_PER_S;
        if (fd < 0)
                return false;
        if (is_gone(fd) || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
                return true;
        owner = subordinate_owner(peer.uid);
        place = has_time(answers, owner) ? find_place(answers, owner) : NULL;
        if (!place) {
                turn_away(fd);
                return true;
        }
        place->fd = take_fd(&fd);
        place->uid = peer.uid;
        place->owner = owner;
        place->n = place->length = place->sent = place->rest = 0;
        place->deadline_ns = now_ns + PATIENCE_NS;
        return true;
}

/*
 * Accepts all waiting connections, so that one user's flood does not keep others in the queue, and then
 * pauses.
 */
static void let_all_in(struct answers *answers)
{
        uint64_t now_ns = util_boottime_ns();
        uint64_t begin_ns = worked_ns();
        int n = 0;

        while (n < QUEUE && let_in(answers, now_ns))
                n++;
        answers->accept_ns = MAX(answers->accept_ns,
                                 now_ns + ACCEPT_PART * (worked_ns() - begin_ns));
}

/* The rest of a question that is too long is read first, since closing earlier would discard the answer. */
static void finish(struct client *client)
{
        if (client->rest == 0) {
                drop(client);
                return;
        }
        shutdown(client->fd, SHUT_WR);
        free(client->answer);
        client->answer = NULL;
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
                finish(client);
}

/* @answer NULL: out of memory. */
static void begin_answer(struct client *client, char *answer)
{
        client->asked = false;
        client->answer = answer;
        if (!answer) {
                drop(client);
                return;
        }
        client->length = strlen(answer);
        client->deadline_ns = util_boottime_ns() + PATIENCE_NS;
        give(client);
}

static void take_rest(struct client *client)
{
        ssize_t n = recv(client->fd, client->text, sizeof(client->text), MSG_DONTWAIT);

        client->rest += n > 0 ? (size_t)n : 0;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || client->rest > REST_BYTES)
                drop(client);
}

/* Receives bytes until the question is complete. */
static void take(struct answers *answers, struct client *client)
{
        ssize_t n = recv(client->fd, client->text + client->n, sizeof(client->text) - client->n, MSG_DONTWAIT);
        const char *end;

        if (n < 0) {
                if (errno != EAGAIN && errno != EINTR)
                        drop(client);
                return;
        }
        client->n += (size_t)n;
        end = memchr(client->text, '\n', client->n);
        if (!end && client->n == sizeof(client->text)) {
                client->rest = 1;
                begin_answer(client, question_refuse(-EINVAL, "a question is shorter than 4096 bytes"));
                return;
        }
        if (!end && n > 0)
                return;
        if (client->n == 0) {
                drop(client); /* the client only checked that the service runs */
                return;
        }
        client->n = end ? (size_t)(end - client->text) : client->n;
        client->asked = true;
        client->turn = answers->turns++;
}

static void serve(struct answers *answers, struct client *client, short events)
{
        uint64_t begin_ns = worked_ns();
        uid_t owner = client->owner;

        if (events & (POLLHUP | POLLERR))
                drop(client); /* the client does not read the answer any more */
        else if (client->answer)
                give(client);
        else if (client->rest > 0)
                take_rest(client);
        else
                take(answers, client);
        charge(answers, owner, begin_ns);
}

static void reply(struct client *client, char *answer)
{
        _cleanup_free_ char *owned = answer;
        answers_reply_t to = client->reply;

        drop(client);
        to(client->data, owned);
}

static void answer(struct answers *answers, struct client *client)
{
        uint64_t begin_ns = worked_ns();
        uid_t owner = client->owner;
        char *text = question_answer(answers->source, client->uid, client->text, client->n);

        if (client->reply)
                reply(client, text);
        else
                begin_answer(client, text);
        portable_trim();
        charge(answers, owner, begin_ns);
}

void answers_serve(struct answers *answers, const struct pollfd fds[ANSWERS_FDS], uint64_t now_ns)
{
        struct client *next;

        if (!answers)
                return;
        for (size_t i = 0; i < ANSWERS_CLIENTS_MAX; i++) {
                struct client *client = &answers->clients[i];

                if (client->fd >= 0 && client->fd == fds[i + 1].fd && fds[i + 1].revents)
                        serve(answers, client, fds[i + 1].revents);
                if (client->fd >= 0 && !client->asked && now_ns >= client->deadline_ns)
                        drop(client);
        }
        if (fds[0].revents)
                let_all_in(answers);
        next = next_client(answers);
        if (next)
                answer(answers, next);
}

int answers_ask(struct answers *answers, uid_t uid, const char *question, answers_reply_t reply_to, void *data)
{
        uid_t owner = subordinate_owner(uid);
        struct client *place = has_time(answers, owner) ? find_place(answers, owner) : NULL;
        size_t length = strlen(question);

        if (length >= sizeof(place->text))
                return -E2BIG;
        if (!place)
                return -EBUSY;
        memcpy(place->text, question, length);
        place->n = length;
        place->uid = uid;
        place->owner = owner;
        place->reply = reply_to;
        place->data = data;
        place->asked = true;
        place->turn = answers->turns++;
        return 0;
}

void answers_forget(struct answers *answers, const void *data)
{
        for (size_t i = 0; i < ARRAY_SIZE(answers->clients); i++)
                if (answers->clients[i].reply && answers->clients[i].data == data)
                        drop(&answers->clients[i]);
}

void answers_rest(struct answers *answers)
{
        if (!answers)
                return;
        answers->spent_ns = answers->n_accounts = 0;
        if (answering_kept_drop(answers->source->kept))
                portable_trim();
}
