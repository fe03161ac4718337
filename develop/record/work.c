/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "util/util.h"
#include "work.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <uthash.h>

#define ANCHORS_MAX 32 /* most nested event loops of a thread */

#define TASK 1 /* no queue has this address */

struct piece_key {
        uint64_t where, what; /* 0 and a source; TASK and a task; a queue and an item in it */
        uint64_t pid;
};

struct piece {
        struct piece_key key;
        uint32_t cause;
        size_t waiting; /* how often it is in the queue */
        bool lost;
        UT_hash_handle hh;
};

struct doing { /* the work that a thread does */
        pid_t tid, pid;
        struct anchor list[ANCHORS_MAX]; /* the outermost first */
        uint32_t causes[ANCHORS_MAX];
        uint64_t functions[ANCHORS_MAX]; /* function of the source; 0: the work is no source */
        uint32_t cause; /* cause of the work that has no anchor, as in a thread of a pool */
        struct {
                uint64_t queue, sp, back; /* @back 0: it asks no queue for work */
                bool pool;
        } asks;
        struct {
                uint64_t sp, back; /* @back 0: it is making no task */
                uint32_t cause;
        } task;
        struct {
                uint64_t source; /* 0: none */
                uint32_t cause;
                bool known; /* it is known who made the task */
        } attaches;         /* the source that it is attaching for a task */
        uint32_t message; /* cause of the message that it handles; CAUSE_NONE: not known */
        bool at_message;
        struct anchors anchors;
        bool lost;
        UT_hash_handle hh;
};

struct work {
        struct piece *pieces;
        struct doing *doing;
        uint64_t begun, placed;
};

int work_new(struct work **ret)
{
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

void work_free(struct work *work)
{
        if (!work)
                return;
        work_forget(work, 0);
        free(work);
}

void work_forget(struct work *work, pid_t pid)
{
        struct piece *piece, *next_piece;
        struct doing *doing, *next_doing;

        HASH_ITER(hh, work->pieces, piece, next_piece) {
                if (pid && piece->key.pid != (uint64_t)pid)
                        continue;
                HASH_DEL(work->pieces, piece);
                free(piece);
        }
        HASH_ITER(hh, work->doing, doing, next_doing) {
                if (pid && doing->pid != pid)
                        continue;
                HASH_DEL(work->doing, doing);
                free(doing);
        }
}

static struct piece *find_piece(struct work *work, const struct piece_key *key)
{
        struct piece *piece;

        HASH_FIND(hh, work->pieces, key, sizeof(*key), piece);
        return piece;
}

static int make_piece(struct work *work, const struct piece_key *key, struct piece **ret)
{
        struct piece *piece = find_piece(work, key);

        if (!piece) {
                piece = calloc(1, sizeof(*piece));
                if (!piece)
                        return -ENOMEM;
                piece->key = *key;
                HASH_ADD(hh, work->pieces, key, sizeof(piece->key), piece);
                if (piece->lost) {
                        free(piece);
                        return -ENOMEM;
                }
        }
        *ret = piece;
        return 0;
}

static int find_doing(struct work *work, pid_t pid, pid_t tid, struct doing **ret)
{
        struct doing *doing;

        HASH_FIND_INT(work->doing, &tid, doing);
        if (!doing) {
                doing = calloc(1, sizeof(*doing));
                if (!doing)
                        return -ENOMEM;
                *doing = (struct doing){ .tid = tid, .pid = pid, .cause = CAUSE_NONE };
                HASH_ADD_INT(work->doing, tid, doing);
                if (doing->lost) {
                        free(doing);
                        return -ENOMEM;
                }
        }
        *ret = doing;
        return 0;
}

int work_attached(struct work *work, pid_t pid, pid_t tid, uint64_t source, uint32_t cause)
{
        const struct piece_key key = { 0, source, (uint64_t)pid };
        struct piece *piece;
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (!err)
                err = make_piece(work, &key, &piece);
        if (err)
                return err;
        if (doing->attaches.source == source)
                piece->cause = doing->attaches.known ? doing->attaches.cause : cause;
        else
                piece->cause = doing->at_message ? doing->message : cause;
        doing->attaches.source = 0;
        return 0;
}

/* Ends work that began below @sp, as stacks grow down. */
static void end_below(struct doing *doing, uint64_t sp)
{
        while (doing->anchors.n > 0 && doing->list[doing->anchors.n - 1].sp <= sp)
                doing->anchors.n--;
        if (doing->task.sp <= sp)
                doing->task.back = 0;
}

static void begin(struct doing *doing, const struct anchor *anchor, uint32_t cause, uint64_t function)
{
        if (doing->anchors.n == ANCHORS_MAX)
                return;
        doing->list[doing->anchors.n] = *anchor;
        doing->causes[doing->anchors.n] = cause;
        doing->functions[doing->anchors.n] = function;
        doing->anchors.n++;
}

int work_dispatch(struct work *work, pid_t pid, pid_t tid, uint64_t source, uint64_t function, uint64_t sp)
{
        const struct piece_key key = { 0, source, (uint64_t)pid };
        const struct piece *piece = find_piece(work, &key);
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err)
                return err;
        end_below(doing, sp);
        doing->at_message = false;
        work->begun++;
        if (!piece || piece->cause == CAUSE_NONE)
                return 0;
        work->placed++;
        begin(doing, &(struct anchor){ .sp = sp }, piece->cause, function);
        return 0;
}

int work_dispatched(struct work *work, pid_t pid, pid_t tid, uint64_t function, uint64_t sp)
{
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);
        size_t last;

        if (err || doing->anchors.n == 0)
                return err;
        last = doing->anchors.n - 1;
        while (last > 0 && doing->list[last].sp < sp) /* work that began below has ended */
                last--;
        if (doing->list[last].sp == sp && doing->functions[last] == function)
                doing->anchors.n = last;
        return 0;
}

int work_pushed(struct work *work, pid_t pid, uint64_t queue, uint64_t data, uint32_t cause)
{
        const struct piece_key key = { queue, data, (uint64_t)pid };
        struct piece *piece;
        int err = make_piece(work, &key, &piece);

        if (err)
                return err;
        /* The same item, as a number and no address, is waiting already: it cannot be told which one is taken first. */
        if (piece->waiting > 0 && piece->cause != cause)
                cause = CAUSE_NONE;
        piece->waiting++;
        piece->cause = cause;
        return 0;
}

int work_asked(struct work *work, pid_t pid, pid_t tid, uint64_t queue, uint64_t sp, uint64_t back, bool pool)
{
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err)
                return err;
        end_below(doing, sp);
        doing->cause = pool ? CAUSE_NONE : doing->cause;
        doing->asks.queue = queue;
        doing->asks.sp = sp;
        doing->asks.back = back;
        doing->asks.pool = pool;
        return 0;
}

int work_taken(struct work *work, pid_t pid, pid_t tid, uint64_t data)
{
        struct piece_key key = { .what = data, .pid = (uint64_t)pid };
        struct piece *piece;
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);
        uint64_t back;

        if (err)
                return err;
        back = doing->asks.back;
        doing->asks.back = 0;
        if (!back || !data)
                return 0;
        key.where = doing->asks.queue;
        piece = find_piece(work, &key);
        work->begun++;
        if (!piece)
                return 0;
        work->placed += piece->cause != CAUSE_NONE;
        if (doing->asks.pool)
                doing->cause = piece->cause;
        else if (piece->cause != CAUSE_NONE)
                begin(doing, &(struct anchor){ .sp = doing->asks.sp, .back = back }, piece->cause, 0);
        if (piece->waiting > 1) {
                piece->waiting--;
                return 0;
        }
        HASH_DEL(work->pieces, piece);
        free(piece);
        return 0;
}

int work_task(struct work *work, pid_t pid, pid_t tid, uint32_t cause, uint64_t sp, uint64_t back)
{
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err)
                return err;
        doing->task.cause = cause;
        doing->task.sp = sp;
        doing->task.back = back;
        return 0;
}

int work_task_made(struct work *work, pid_t pid, pid_t tid, uint64_t task)
{
        const struct piece_key key = { TASK, task, (uint64_t)pid };
        struct piece *piece;
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err || !doing->task.back)
                return err;
        doing->task.back = 0;
        err = make_piece(work, &key, &piece);
        if (err)
                return err;
        piece->cause = doing->task.cause;
        return 0;
}

int work_task_attach(struct work *work, pid_t pid, pid_t tid, uint64_t task, uint64_t source)
{
        const struct piece_key key = { TASK, task, (uint64_t)pid };
        const struct piece *piece = find_piece(work, &key);
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err)
                return err;
        doing->attaches.source = source;
        doing->attaches.known = piece != NULL;
        doing->attaches.cause = piece ? piece->cause : CAUSE_NONE;
        return 0;
}

int work_message(struct work *work, pid_t pid, pid_t tid, uint32_t cause)
{
        struct doing *doing;
        int err = find_doing(work, pid, tid, &doing);

        if (err)
                return err;
        doing->at_message = true;
        doing->message = cause;
        return 0;
}

const struct anchors *work_anchors(struct work *work, pid_t pid, pid_t tid)
{
        struct doing *doing;

        if (find_doing(work, pid, tid, &doing) < 0)
                return NULL;
        doing->anchors.list = doing->list;
        doing->anchors.back = doing->task.back ? doing->task.back : doing->asks.back;
        doing->anchors.back_sp = doing->task.back ? doing->task.sp : doing->asks.sp;
        return &doing->anchors;
}

uint32_t work_cause(const struct work *work, pid_t tid, int anchor)
{
        struct doing *doing;

        HASH_FIND_INT(work->doing, &tid, doing);
        if (!doing)
                return CAUSE_NONE;
        return anchor < 0 ? doing->cause : doing->causes[anchor];
}

void work_counts(const struct work *work, uint64_t *pieces, uint64_t *placed)
{
        *pieces = work->begun;
        *placed = work->placed;
}
