/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pipewire.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "held/sound.h"
#include "pod.h"
#include "util/util.h"

#define SOCKET "pipewire-0"
#define TRIES 3 /* attempts to connect to a socket that existed a moment ago */
#define OBJECTS_MAX 4096
#define NO_PROXY UINT32_MAX

/* Numbers of objects that each connection has; numbers of further objects follow. */
enum { CORE, CLIENT, REGISTRY, FIRST_PROXY };
enum { CORE_HELLO = 1, CORE_PONG = 3, CORE_GET_REGISTRY = 5, CLIENT_UPDATE_PROPERTIES = 2, REGISTRY_BIND = 1 };
enum { ON_CORE_PING = 2, ON_CORE_REMOVE_ID = 4, ON_REGISTRY_GLOBAL = 0, ON_REGISTRY_REMOVE = 1, ON_NODE_INFO = 0 };
#define VERSION 3
#define RUNNING 3 /* enum pw_node_state */

enum kind {
        KIND_CLIENT, /* a connection to the daemon */
        KIND_STREAM, /* a client's sound, playing or recording */
        KIND_CARD    /* a sound device */
};

struct pipewire_object {
        uint32_t id;
        enum kind kind;
        pid_t pid; /* a client's, which the kernel reported to the daemon; a stream's, which the program claims */
        uint32_t client; /* the client of a stream */
        bool alsa;       /* a card of the machine itself, not a file, a network or Bluetooth */
        bool runs;
};

static struct pipewire_object *find(const struct pipewire *pipewire, uint32_t id)
{
        for (size_t i = 0; i < pipewire->n; i++)
                if (pipewire->objects[i].id == id)
                        return &pipewire->objects[i];
        return NULL;
}

static int say(struct pipewire *pipewire, struct pod_message *message, uint32_t object, uint8_t opcode)
{
        pod_end(message, object, opcode, pipewire->sequence++);
        return stream_write(&pipewire->stream, message->bytes, message->length);
}

/* The daemon expects the lowest free number. A daemon that never frees a number ends the connection. */
static int bind_node(struct pipewire *pipewire, uint32_t id)
{
        struct pod_message message;
        size_t at = 0;

        while (at < pipewire->n_proxies && pipewire->proxies[at] != NO_PROXY)
                at++;
        if (at >= OBJECTS_MAX)
                return -EPROTO;
        if (util_grow(&pipewire->proxies, &pipewire->proxies_capacity, at + 1, sizeof(*pipewire->proxies)) < 0)
                return -ENOMEM;
        pipewire->proxies[at] = id;
        pipewire->n_proxies = MAX(pipewire->n_proxies, at + 1);
        pod_begin(&message);
        pod_add_int(&message, (int32_t)id);
        pod_add_string(&message, "PipeWire:Interface:Node");
        pod_add_int(&message, VERSION);
        pod_add_int(&message, (int32_t)(FIRST_PROXY + at));
        return say(pipewire, &message, REGISTRY, REGISTRY_BIND);
}

static pid_t parse_pid(const char *text)
{
        char *end;
        long pid = strtol(text, &end, 10);

        return *text && !*end && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* Is the node sound: a client's stream, or a card? */
static bool is_sound(const char *class, enum kind *ret)
{
        *ret = strncmp(class, "Stream/", 7) == 0 ? KIND_STREAM : KIND_CARD;
        return strcmp(class, "Stream/Output/Audio") == 0 || strcmp(class, "Stream/Input/Audio") == 0 ||
               strncmp(class, "Audio/", 6) == 0;
}

/* Id, permissions, type, version, properties. */
static int on_global(struct pipewire *pipewire, struct pod *in)
{
        struct pipewire_object object = { 0 };
        const char *type, *key, *value, *class = "";
        struct pod properties;
        int32_t id, n;

        if (!pod_int(in, &id) || !pod_skip(in) || !pod_string(in, &type) || !pod_skip(in) ||
            !pod_struct(in, &properties) || !pod_int(&properties, &n) || !type)
                return -EPROTO;
        while (pod_pair(&properties, &key, &value)) {
                if (strcmp(key, "media.class") == 0)
                        class = value;
                else if (strcmp(key, "client.id") == 0)
                        object.client = (uint32_t)strtoul(value, NULL, 10);
                else if (strcmp(key, "pipewire.sec.pid") == 0)
                        object.pid = parse_pid(value);
        }
        if (strcmp(type, "PipeWire:Interface:Client") != 0 &&
            (strcmp(type, "PipeWire:Interface:Node") != 0 || !is_sound(class, &object.kind)))
                return 0;
        object.id = (uint32_t)id;
        if (find(pipewire, object.id) || pipewire->n >= OBJECTS_MAX)
                return 0;
        if (util_grow(&pipewire->objects, &pipewire->capacity, pipewire->n + 1, sizeof(object)) < 0)
                return -ENOMEM;
        pipewire->objects[pipewire->n++] = object;
        return object.kind == KIND_CLIENT ? 0 : bind_node(pipewire, object.id);
}

static void on_remove(struct pipewire *pipewire, uint32_t id)
{
        struct pipewire_object *object = find(pipewire, id);

        if (object)
                *object = pipewire->objects[--pipewire->n];
}

/* Id, ports (2), change mask, ports (2), state, error, properties, parameters. */
static int on_node(struct pipewire *pipewire, uint32_t id, struct pod *in)
{
        struct pipewire_object *object = find(pipewire, id);
        const char *key, *value;
        struct pod properties;
        int32_t state, n;

        for (unsigned i = 0; i < 6; i++)
                if (!pod_skip(in))
                        return -EPROTO;
        if (!pod_int(in, &state) || !pod_skip(in) || !pod_struct(in, &properties) || !pod_int(&properties, &n))
                return -EPROTO;
        if (!object)
                return 0;
        object->runs = state == RUNNING;
        while (pod_pair(&properties, &key, &value)) {
                if (strcmp(key, "device.api") == 0)
                        object->alsa = strcmp(value, "alsa") == 0;
                else if (strcmp(key, "application.process.id") == 0)
                        object->pid = parse_pid(value);
        }
        return 0;
}

static int pong(struct pipewire *pipewire, struct pod *in)
{
        struct pod_message message;
        int32_t id, sequence;

        if (!pod_int(in, &id) || !pod_int(in, &sequence))
                return -EPROTO;
        pod_begin(&message);
        pod_add_int(&message, id);
        pod_add_int(&message, sequence);
        return say(pipewire, &message, CORE, CORE_PONG);
}

static int on_message(struct pipewire *pipewire, uint32_t object, uint32_t opcode, struct pod *in)
{
        int32_t id;

        if (object == CORE && opcode == ON_CORE_PING)
                return pong(pipewire, in);
        if (object == REGISTRY && opcode == ON_REGISTRY_GLOBAL)
                return on_global(pipewire, in);
        if (object >= FIRST_PROXY && object - FIRST_PROXY < pipewire->n_proxies && opcode == ON_NODE_INFO)
                return on_node(pipewire, pipewire->proxies[object - FIRST_PROXY], in);
        if ((object == REGISTRY && opcode == ON_REGISTRY_REMOVE) || (object == CORE && opcode == ON_CORE_REMOVE_ID)) {
                if (!pod_int(in, &id))
                        return -EPROTO;
                if (object == REGISTRY)
                        on_remove(pipewire, (uint32_t)id);
                else if (id >= FIRST_PROXY && (size_t)id - FIRST_PROXY < pipewire->n_proxies)
                        pipewire->proxies[id - FIRST_PROXY] = NO_PROXY;
        }
        return 0;
}

int pipewire_hear(struct pipewire *pipewire)
{
        struct stream *stream = &pipewire->stream;
        int err = stream_read(stream, 0);
        size_t at = 0;

        if (err == -ETIMEDOUT)
                err = 0;
        while (!err && stream->length - at >= POD_MESSAGE_HEADER) {
                uint32_t head[4];
                size_t length;
                struct pod all, in;

                memcpy(head, stream->buffer + at, sizeof(head));
                length = head[1] & 0xffffff;
                if (stream->length - at - POD_MESSAGE_HEADER < length)
                        break;
                all = (struct pod){ (const uint8_t *)stream->buffer + at + POD_MESSAGE_HEADER, length };
                if (pod_struct(&all, &in))
                        err = on_message(pipewire, head[0], head[1] >> 24, &in);
                at += POD_MESSAGE_HEADER + length;
        }
        stream_take(stream, at);
        return err;
}

static void forget(struct pipewire *pipewire)
{
        stream_close(&pipewire->stream);
        free(pipewire->objects);
        free(pipewire->proxies);
        pipewire->objects = NULL;
        pipewire->proxies = NULL;
        pipewire->n = pipewire->capacity = pipewire->n_proxies = pipewire->proxies_capacity = 0;
        pipewire->sequence = 0;
}

static int greet(struct pipewire *pipewire)
{
        struct pod_message message;
        int err;

        pod_begin(&message);
        pod_add_int(&message, VERSION);
        err = say(pipewire, &message, CORE, CORE_HELLO);
        pod_begin(&message);
        pod_add_pair(&message, "application.name", "joulecast-focus");
        if (!err)
                err = say(pipewire, &message, CLIENT, CLIENT_UPDATE_PROPERTIES);
        pod_begin(&message);
        pod_add_int(&message, VERSION);
        pod_add_int(&message, REGISTRY);
        return err ? err : say(pipewire, &message, CORE, CORE_GET_REGISTRY);
}

void pipewire_open(struct pipewire *pipewire, const struct log *log)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");

        *pipewire = (struct pipewire){ .stream = STREAM_CLOSED, .tries = 1, .log = log };
        pipewire->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (pipewire->watch_fd >= 0 && (!runtime ||
                                        inotify_add_watch(pipewire->watch_fd, runtime, IN_CREATE | IN_MOVED_TO) < 0)) {
                close(pipewire->watch_fd);
                pipewire->watch_fd = -1;
        }
}

void pipewire_close(struct pipewire *pipewire)
{
        forget(pipewire);
        closep(&pipewire->watch_fd);
}

int pipewire_fd(const struct pipewire *pipewire)
{
        return pipewire->stream.fd >= 0 ? pipewire->stream.fd : pipewire->watch_fd;
}

uint64_t pipewire_deadline(const struct pipewire *pipewire)
{
        return pipewire->stream.fd < 0 && pipewire->tries > 0 ? pipewire->backoff.until_ns : UINT64_MAX;
}

void pipewire_connect(struct pipewire *pipewire, uint64_t now_ns)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char path[108];

        if (now_ns < pipewire_deadline(pipewire) || pipewire->stream.fd >= 0)
                return;
        pipewire->tries--;
        if (!runtime || snprintf(path, sizeof(path), "%s/" SOCKET, runtime) >= (int)sizeof(path))
                return;
        if (stream_connect(&pipewire->stream, path) == 0 && greet(pipewire) == 0) {
                backoff_succeeded(&pipewire->backoff, now_ns);
                return;
        }
        forget(pipewire);
        backoff_failed(&pipewire->backoff, now_ns);
}

/* The socket appears before the daemon listens, so several attempts are made. */
static void hear_watch(struct pipewire *pipewire, uint64_t now_ns)
{
        char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
        ssize_t n;

        while ((n = read(pipewire->watch_fd, bytes, sizeof(bytes))) > 0)
                for (const char *at = bytes; at < bytes + n;) {
                        const struct inotify_event *event = (const void *)at;

                        if (event->len > 0 && strcmp(event->name, SOCKET) == 0) {
                                pipewire->tries = TRIES;
                                pipewire->backoff = (struct backoff){ .until_ns = now_ns };
                        }
                        at += sizeof(*event) + event->len;
                }
}

void pipewire_dispatch(struct pipewire *pipewire, uint64_t now_ns)
{
        int err;

        if (pipewire->stream.fd < 0) {
                hear_watch(pipewire, now_ns);
                return;
        }
        err = pipewire_hear(pipewire);
        if (!err)
                return;
        log_info(pipewire->log, "PipeWire is gone: %s", strerror(-err));
        forget(pipewire);
        pipewire->tries = TRIES;
        backoff_failed(&pipewire->backoff, now_ns);
}

/*
 * If the client is itself a server, such as the one for PulseAudio's clients, the stream gives the process.
 */
static pid_t player(const struct pipewire *pipewire, int root_fd, const struct pipewire_object *stream)
{
        const struct pipewire_object *client = find(pipewire, stream->client);
        pid_t pid = client && client->kind == KIND_CLIENT ? held_client(root_fd, client->pid) : 0;

        return pid ? pid : held_client(root_fd, stream->pid);
}

static void add_player(struct pipewire_sound *sound, pid_t pid)
{
        size_t at = 0;

        while (at < sound->n && sound->pids[at] < pid)
                at++;
        if (at < sound->n && sound->pids[at] == pid)
                return;
        if (pid <= 0 || sound->n == FOCUS_PLAYERS_MAX) {
                sound->others = true;
                return;
        }
        memmove(&sound->pids[at + 1], &sound->pids[at], (sound->n - at) * sizeof(*sound->pids));
        sound->pids[at] = pid;
        sound->n++;
}

/* Sound that goes nowhere, or over a network or Bluetooth, does not use the machine's own devices. */
void pipewire_sound(const struct pipewire *pipewire, int root_fd, struct pipewire_sound *ret)
{
        bool on = false;

        *ret = (struct pipewire_sound){ 0 };
        for (size_t i = 0; i < pipewire->n; i++)
                on = on || (pipewire->objects[i].kind == KIND_CARD && pipewire->objects[i].alsa &&
                            pipewire->objects[i].runs);
        for (size_t i = 0; on && i < pipewire->n; i++)
                if (pipewire->objects[i].kind == KIND_STREAM && pipewire->objects[i].runs)
                        add_player(ret, player(pipewire, root_fd, &pipewire->objects[i]));
}
