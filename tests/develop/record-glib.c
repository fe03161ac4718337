/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For test-record: work that is passed on through GLib in each way, each asked for by one function and done
 * by another. With a number: so many idle functions, and what each costs.
 */

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile long sink;
static GMainLoop *loop;
static GAsyncQueue *queue;
static int left = 7;

__attribute__((noinline)) static void burn(long n)
{
        for (long i = 0; i < n; i++)
                sink = sink + i;
}

#define BURN 40000000
/* All differ, or the compiler makes one of them; and no call is the last thing done, which would leave no frame. */
#define WORK(name)                                       \
        __attribute__((noinline)) static void name(void) \
        {                                                \
                burn(BURN);                              \
                sink = sink + __LINE__;                  \
        }

WORK(idle_work)
WORK(timeout_work)
WORK(nested_work)
WORK(pool_work)
WORK(queue_work)
WORK(task_work)
WORK(task_end_work)
WORK(step_work)
WORK(last_work)

static gboolean ended(void *data)
{
        if (--left == 0)
                g_main_loop_quit(loop);
        return data != NULL; /* G_SOURCE_REMOVE */
}

static gboolean on_idle(void *data)
{
        idle_work();
        return ended(data);
}

/* Three times, by one source. */
static gboolean on_timeout(void *data)
{
        static int times;

        timeout_work();
        return ++times < 3 ? TRUE : ended(data);
}

/* Another loop within this piece of work; what is done after it belongs to the same cause again. */
static gboolean on_inner(void *data)
{
        g_main_loop_quit(data);
        return FALSE;
}

__attribute__((noinline)) static void ask_inner(void)
{
        GMainLoop *inner = g_main_loop_new(NULL, FALSE);

        g_idle_add_full(G_PRIORITY_HIGH, on_inner, inner, NULL);
        g_main_loop_run(inner);
        g_main_loop_unref(inner);
}

static gboolean on_nested(void *data)
{
        ask_inner();
        nested_work();
        return ended(data);
}

/* Each step asks for the next one. */
static gboolean on_step(void *data)
{
        static int steps;

        step_work();
        if (++steps < 5) {
                g_timeout_add(0, on_step, data);
                return FALSE;
        }
        return ended(data);
}

static void on_pool(void *data, void *user_data)
{
        (void)data;
        (void)user_data;
        pool_work();
        g_idle_add(ended, NULL);
}

static void *in_thread(void *data)
{
        while (g_async_queue_pop(queue) != loop)
                queue_work();
        last_work();
        return data;
}

static void in_task(GTask *task, void *object, void *data, GCancellable *cancellable)
{
        (void)object;
        (void)data;
        (void)cancellable;
        task_work();
        g_task_return_boolean(task, TRUE);
}

static void on_task(GObject *object, GAsyncResult *result, void *data)
{
        (void)object;
        (void)result;
        task_end_work();
        ended(data);
}

#define ASK(name) __attribute__((noinline)) static void name(void)
#define END sink = sink + __LINE__

ASK(ask_idle)
{
        g_idle_add(on_idle, NULL);
        END;
}

ASK(ask_timeout)
{
        g_timeout_add(1, on_timeout, NULL);
        END;
}

ASK(ask_nested)
{
        g_idle_add(on_nested, NULL);
        END;
}

ASK(ask_step)
{
        g_idle_add(on_step, NULL);
        END;
}

ASK(ask_pool)
{
        static GThreadPool *pool;

        pool = g_thread_pool_new(on_pool, NULL, 2, FALSE, NULL);
        g_thread_pool_push(pool, loop, NULL);
        END;
}

ASK(ask_task)
{
        GTask *task = g_task_new(NULL, NULL, on_task, NULL);

        g_task_run_in_thread(task, in_task);
        g_object_unref(task);
        END;
}

ASK(ask_queue)
{
        g_async_queue_push(queue, &left);
        END;
}

ASK(ask_last)
{
        g_async_queue_push(queue, loop);
        END;
}

static int measure(int n)
{
        struct timespec before, after;

        left = n;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        for (int i = 0; i < n; i++)
                g_idle_add(ended, NULL);
        g_main_loop_run(loop);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        fprintf(stderr, "%.1f us of CPU time each\n",
                ((double)(after.tv_sec - before.tv_sec) * 1e6 + (double)(after.tv_nsec - before.tv_nsec) / 1e3) / n);
        burn(10 * BURN); /* enough to be recorded */
        return 0;
}

int main(int argc, char **argv)
{
        GThread *thread;

        loop = g_main_loop_new(NULL, FALSE);
        if (argc > 1)
                return measure(MAX(atoi(argv[1]), 1));
        queue = g_async_queue_new();
        thread = g_thread_new("worker", in_thread, NULL);
        ask_idle();
        ask_timeout();
        ask_nested();
        ask_step();
        ask_pool();
        ask_task();
        ask_queue();
        ask_last();
        g_thread_join(thread);
        ended(NULL);
        g_main_loop_run(loop);
        return 0;
}
