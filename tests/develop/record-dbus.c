/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For test-record: calls over D-Bus, on the bus of DBUS_SESSION_BUS_ADDRESS, each made by one function;
 * another one works when the answer comes. A child of it answers, and works for each method, too.
 * `record-dbus calls N`: so many calls, and what each costs here.
 */

#include <gio/gio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INTERFACE "org.joulecast.Test"
#define PATH "/org/joulecast/Test"

static volatile long sink;
static GMainLoop *loop;
static GDBusConnection *bus;
static char name[64];
static int left = 4;

__attribute__((noinline)) static void burn(long n)
{
        for (long i = 0; i < n; i++)
                sink = sink + i;
}

#define BURN 40000000
/* All differ, or the compiler makes one of them; and no call is the last thing done, which would leave no frame. */
#define END sink = sink + __LINE__
#define WORK(function)                                       \
        __attribute__((noinline)) static void function(void) \
        {                                                    \
                burn(BURN);                                  \
                END;                                         \
        }

WORK(cheap_work)
WORK(dear_work)
WORK(proxy_work)
WORK(signal_work)
WORK(cheap_method)
WORK(dear_method)
WORK(proxy_method)

static void ended(void)
{
        if (--left == 0)
                g_main_loop_quit(loop);
}

#define ANSWER(function, work)                                                       \
        static void function(GObject *object, GAsyncResult *result, void *data)      \
        {                                                                            \
                g_autoptr(GVariant) answer = g_dbus_connection_call_finish(bus, result, NULL); \
                                                                                     \
                (void)object;                                                        \
                (void)data;                                                          \
                if (!answer)                                                         \
                        exit(1);                                                     \
                work();                                                              \
                ended();                                                             \
        }

ANSWER(on_cheap, cheap_work)
ANSWER(on_dear, dear_work)

static void on_proxy(GObject *object, GAsyncResult *result, void *data)
{
        g_autoptr(GVariant) answer = g_dbus_proxy_call_finish(G_DBUS_PROXY(object), result, NULL);

        (void)data;
        if (!answer)
                exit(1);
        proxy_work();
        ended();
}

#define ASK(function) __attribute__((noinline)) static void function(void)

ASK(ask_cheap)
{
        g_dbus_connection_call(bus, name, PATH, INTERFACE, "Cheap", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                               NULL, on_cheap, NULL);
        END;
}

ASK(ask_dear)
{
        g_dbus_connection_call(bus, name, PATH, INTERFACE, "Dear", NULL, NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                               NULL, on_dear, NULL);
        END;
}

ASK(ask_proxy)
{
        GDBusProxy *proxy = g_dbus_proxy_new_sync(bus, G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES, NULL, name,
                                                  PATH, INTERFACE, NULL, NULL);

        if (!proxy)
                exit(1);
        g_dbus_proxy_call(proxy, "Proxy", NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_proxy, NULL);
        END;
}

static void on_signal(GDBusConnection *connection, const char *sender, const char *path, const char *interface,
                      const char *signal, GVariant *arguments, void *data)
{
        (void)connection;
        (void)sender;
        (void)path;
        (void)interface;
        (void)signal;
        (void)arguments;
        (void)data;
        signal_work();
        ended();
}

static void serve(GDBusConnection *connection, const char *sender, const char *path, const char *interface,
                  const char *method, GVariant *arguments, GDBusMethodInvocation *invocation, void *data)
{
        (void)sender;
        (void)arguments;
        (void)data;
        if (strcmp(method, "Cheap") == 0)
                cheap_method();
        else if (strcmp(method, "Dear") == 0)
                dear_method();
        else if (strcmp(method, "Proxy") == 0)
                proxy_method();
        if (strcmp(method, "Dear") == 0)
                g_dbus_connection_emit_signal(connection, NULL, path, interface, "Done", NULL, NULL);
        g_dbus_method_invocation_return_value(invocation, NULL);
}

/* Ends with its parent. @bus has @name when the pipe is closed. */
static int serve_all(int ready_fd)
{
        static const GDBusInterfaceVTable table = { .method_call = serve };
        static const char xml[] = "<node><interface name='" INTERFACE "'><method name='Cheap'/><method name='Dear'/>"
                                  "<method name='Proxy'/><method name='Nothing'/><signal name='Done'/>"
                                  "</interface></node>";
        GDBusNodeInfo *node = g_dbus_node_info_new_for_xml(xml, NULL);

        if (!g_dbus_connection_register_object(bus, PATH, node->interfaces[0], &table, NULL, NULL, NULL))
                return 1;
        if (dprintf(ready_fd, "%s\n", g_dbus_connection_get_unique_name(bus)) < 0)
                return 1;
        close(ready_fd);
        g_main_loop_run(loop);
        return 0;
}

/* A program of its own: GLib's threads do not outlive a fork. */
static int start_server(const char *program)
{
        int ready[2];
        ssize_t n;
        pid_t pid;

        if (pipe(ready) < 0 || (pid = fork()) < 0)
                exit(1);
        if (pid == 0) {
                char fd[16];

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                snprintf(fd, sizeof(fd), "%d", ready[1]);
                execl(program, program, fd, NULL);
                _exit(127);
        }
        close(ready[1]);
        n = read(ready[0], name, sizeof(name) - 1);
        close(ready[0]);
        if (n <= 0)
                exit(1);
        name[strcspn(name, "\n")] = '\0';
        return pid;
}

static int measure(int n)
{
        struct timespec before, after;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        for (int i = 0; i < n; i++) {
                GVariant *answer = g_dbus_connection_call_sync(bus, name, PATH, INTERFACE, "Nothing", NULL, NULL,
                                                               G_DBUS_CALL_FLAGS_NONE, -1, NULL, NULL);

                if (!answer)
                        return 1;
                g_variant_unref(answer);
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        fprintf(stderr, "%.1f us of CPU time each\n",
                ((double)(after.tv_sec - before.tv_sec) * 1e6 + (double)(after.tv_nsec - before.tv_nsec) / 1e3) / n);
        burn(10 * BURN); /* enough to be recorded */
        return 0;
}

static int ask_all(void)
{
        g_dbus_connection_signal_subscribe(bus, name, INTERFACE, "Done", PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                           on_signal, NULL, NULL);
        ask_cheap();
        ask_dear();
        ask_proxy();
        g_main_loop_run(loop);
        return 0;
}

int main(int argc, char **argv)
{
        int pid = argc != 2 ? start_server(argv[0]) : 0, status;

        loop = g_main_loop_new(NULL, FALSE);
        bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
        if (!bus)
                return 1;
        if (argc == 2)
                return serve_all(atoi(argv[1]));
        status = argc > 2 ? measure(MAX(atoi(argv[2]), 1)) : ask_all();
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
        return status;
}
