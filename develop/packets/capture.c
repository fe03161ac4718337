/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture.h"

#include <endian.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "gzip/gzip.h"
#include "util/units.h"
#include "util/util.h"
#include "util/wide.h"

#define LENGTH_MAX (1u << 20)          /* the kernel joins packets to 512 KiB at most */

const bool capture_supported = true;

struct capture {
        pcap_t *pcap; /* NULL: it is pcapng */
        struct pcapng *pcapng;
        FILE *file; /* the file, where it is pcapng */
        const char *name;
        const struct log *log;
        enum capture_link link;
        size_t n;
};

int capture_link(int type, enum capture_link *ret)
{
        static const struct {
                int type;
                enum capture_link link;
        } links[] = {
                { DLT_RAW, CAPTURE_IP },
                { 14, CAPTURE_IP },
                { 101, CAPTURE_IP },
                { DLT_IPV4, CAPTURE_IP },
                { DLT_IPV6, CAPTURE_IP },
                { DLT_EN10MB, CAPTURE_ETHERNET },
                { DLT_LINUX_SLL, CAPTURE_COOKED },
                { DLT_LINUX_SLL2, CAPTURE_COOKED_2 },
                { DLT_NULL, CAPTURE_LOOPBACK },
                { DLT_LOOP, CAPTURE_LOOPBACK },
        };

        for (size_t i = 0; i < ARRAY_SIZE(links); i++)
                if (links[i].type == type) {
                        *ret = links[i].link;
                        return 0;
                }
        return -EPROTONOSUPPORT;
}

/*
 * Packets of a pcapng file (draft-ietf-opsawg-pcapng), whose interfaces may have different links, snap lengths and
 * clocks. libpcap reads only files whose interfaces are alike.
 */

struct pcapng;

#define BLOCK_MAX ((uint32_t)16 << 20)
#define INTERFACES_MAX 65536
#define SECTION 0x0a0d0d0au
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

enum { BLOCK_INTERFACE = 1, BLOCK_OLD_PACKET, BLOCK_SIMPLE_PACKET, BLOCK_PACKET = 6 };
enum { OPTION_END, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };

struct interface {
        uint16_t type;
        uint64_t units;   /* ticks of its clock in a second */
        int64_t offset_s; /* seconds to add to its times */
};

struct pcapng {
        FILE *file;
        const char *name;
        const struct log *log;
        bool begun;
        bool swapped; /* this section has the other byte order */
        struct interface *interfaces; /* interfaces of this section */
        size_t n_interfaces, capacity;
        uint8_t *block;
        size_t room;
};

/* Does the file begin as one of pcapng? The byte that was read is put back. */
static bool pcapng_is(FILE *file)
{
        int first = getc(file);

        if (first != EOF)
                ungetc(first, file);
        return first == '\n';
}

/* @file stays the caller's. 0; -ENOMEM. */
static int pcapng_new(FILE *file, const char *name, const struct log *log, struct pcapng **ret)
{
        struct pcapng *pcapng = calloc(1, sizeof(*pcapng));

        if (!pcapng)
                return -ENOMEM;
        *pcapng = (struct pcapng){ .file = file, .name = name, .log = log };
        *ret = pcapng;
        return 0;
}

static void pcapng_free(struct pcapng *pcapng)
{
        if (!pcapng)
                return;
        free(pcapng->interfaces);
        free(pcapng->block);
        free(pcapng);
}

/* Why @file cannot be read: @otherwise, if it was read without an error. */
static const char *reason_of(FILE *file, const char *otherwise)
{
        return ferror(file) ? gzip_reason(-errno) : otherwise;
}

static int damaged(const struct pcapng *pcapng, size_t n, const char *what)
{
        log_error(pcapng->log, "%s cannot be read from packet %zu on: %s", pcapng->name, n + 1,
                  reason_of(pcapng->file, what));
        return -EINVAL;
}

static int impossible(const struct pcapng *pcapng, size_t n)
{
        log_error(pcapng->log, "%s is damaged: packet %zu has a time or a length that is not possible",
                  pcapng->name, n + 1);
        return -EINVAL;
}

static uint32_t get32(const struct pcapng *pcapng, const uint8_t *at)
{
        uint32_t value;

        memcpy(&value, at, sizeof(value));
        return pcapng->swapped ? __builtin_bswap32(value) : value;
}

static uint16_t get16(const struct pcapng *pcapng, const uint8_t *at)
{
        uint16_t value;

        memcpy(&value, at, sizeof(value));
        return pcapng->swapped ? __builtin_bswap16(value) : value;
}

static uint64_t power(uint64_t base, unsigned n)
{
        uint64_t value = 1;

        while (n-- > 0)
                value *= base;
        return value;
}

/* @value: decimal digits of a second's fraction, or bits if the highest bit is set. False: finer than 64 bits hold. */
static bool take_resolution(struct interface *interface, uint8_t value)
{
        unsigned n = value & 0x7f;

        if (n > (value & 0x80 ? 63 : 19))
                return false;
        interface->units = power(value & 0x80 ? 2 : 10, n);
        return true;
}

static int add_interface(struct pcapng *pcapng, size_t n, const uint8_t *body, size_t length)
{
        struct interface interface = { .units = 1000000 };

        if (length < 8 || pcapng->n_interfaces == INTERFACES_MAX)
                return damaged(pcapng, n, "it is damaged");
        interface.type = get16(pcapng, body);
        for (size_t at = 8; at + 4 <= length;) {
                uint16_t option = get16(pcapng, body + at), size = get16(pcapng, body + at + 2);

                if (option == OPTION_END || at + 4 + size > length)
                        break;
                if (option == OPTION_RESOLUTION && size == 1 && !take_resolution(&interface, body[at + 4]))
                        return damaged(pcapng, n, "its times are finer than 64 bits hold");
                if (option == OPTION_OFFSET && size == 8) {
                        uint64_t low = get32(pcapng, body + at + (pcapng->swapped ? 8 : 4));
                        uint64_t high = get32(pcapng, body + at + (pcapng->swapped ? 4 : 8));

                        interface.offset_s =
                                (int64_t)((BYTE_ORDER == LITTLE_ENDIAN) ? high << 32 | low : low << 32 | high);
                }
                at += 4 + ((size + 3u) & ~3u);
        }
        if (util_grow(&pcapng->interfaces, &pcapng->capacity, pcapng->n_interfaces + 1, sizeof(interface)) < 0)
                return -ENOMEM;
        pcapng->interfaces[pcapng->n_interfaces++] = interface;
        return 0;
}

/* Reads a packet. @head: its block from the time on. */
static int take_packet(struct pcapng *pcapng, size_t n, uint32_t number, const uint8_t *head, const uint8_t *end,
                       struct captured *ret)
{
        const struct interface *interface = number < pcapng->n_interfaces ? &pcapng->interfaces[number] : NULL;
        uint64_t ticks = (uint64_t)get32(pcapng, head) << 32 | get32(pcapng, head + 4);
        uint32_t kept = get32(pcapng, head + 8);
        int_wide time_ns;

        if (!interface || kept > (size_t)(end - head) - 16)
                return damaged(pcapng, n, "a packet is longer than its block, or of no interface");
        time_ns = wide_divide((int_wide)ticks * (int64_t)NS_PER_S, interface->units) +
                  (int_wide)interface->offset_s * (int64_t)NS_PER_S;
        if (time_ns < 0 || time_ns >= CAPTURE_SECONDS_MAX * (int64_t)NS_PER_S)
                return impossible(pcapng, n);
        *ret = (struct captured){
                .time_ns = (int64_t)time_ns, .length = get32(pcapng, head + 12), .kept = kept, .bytes = head + 16
        };
        if (capture_link(interface->type, &ret->link) == 0)
                return 1;
        log_error(pcapng->log,
                  "%s: packet %zu was captured on a link of type %u; only Ethernet, IP, loopback and tcpdump -i "
                  "any are known",
                  pcapng->name, n + 1, interface->type);
        return -EPROTONOSUPPORT;
}

/* Reads a block. 1: a packet; 0: something else; a negative errno. @body: content between the block's lengths. */
static int take_block(struct pcapng *pcapng, size_t n, uint32_t type, const uint8_t *body, size_t length,
                      struct captured *ret)
{
        if (type == BLOCK_INTERFACE)
                return add_interface(pcapng, n, body, length);
        if (type == BLOCK_SIMPLE_PACKET)
                return damaged(pcapng, n, "it has packets without a time");
        if (type != BLOCK_PACKET && type != BLOCK_OLD_PACKET)
                return 0;
        if (length < 20)
                return damaged(pcapng, n, "it is damaged");
        return take_packet(pcapng, n, type == BLOCK_PACKET ? get32(pcapng, body) : get16(pcapng, body), body + 4,
                           body + length, ret);
}

/* Reads a block to pcapng->block. 1; 0: there is none; a negative errno. @ret_length: bytes between its lengths. */
static int read_block(struct pcapng *pcapng, size_t n, uint32_t *ret_type, size_t *ret_length)
{
        uint8_t head[12];
        size_t got = fread(head, 1, sizeof(head), pcapng->file);
        uint32_t length;

        if (got == 0 && !ferror(pcapng->file))
                return 0;
        if (got < sizeof(head))
                return damaged(pcapng, n, "it is cut off");
        memcpy(ret_type, head, 4);
        if (*ret_type == SECTION) { /* the same in both byte orders */
                uint32_t magic;

                memcpy(&magic, head + 8, 4);
                pcapng->swapped = magic != BYTE_ORDER_MAGIC;
                if (pcapng->swapped && magic != __builtin_bswap32(BYTE_ORDER_MAGIC))
                        return damaged(pcapng, n, "it is damaged");
                pcapng->n_interfaces = 0;
                pcapng->begun = true;
        }
        if (!pcapng->begun) {
                log_error(pcapng->log, "%s cannot be read: it is no capture of packets", pcapng->name);
                return -EINVAL;
        }
        *ret_type = get32(pcapng, head);
        length = get32(pcapng, head + 4);
        if (length < 12 || length % 4 != 0 || length > BLOCK_MAX)
                return damaged(pcapng, n, "it is damaged");
        if (util_grow(&pcapng->block, &pcapng->room, length, 1) < 0)
                return -ENOMEM;
        memcpy(pcapng->block, head + 8, 4);
        if (fread(pcapng->block + 4, 1, length - 12, pcapng->file) != length - 12)
                return damaged(pcapng, n, "it is cut off");
        *ret_length = length - 12;
        return 1;
}

/* 1: a packet; 0: there are no more; a negative errno after a sentence. @n: packets so far, for sentences. */
static int pcapng_next(struct pcapng *pcapng, size_t n, struct captured *ret)
{
        uint32_t type = 0;
        size_t length = 0;
        int got;

        while ((got = read_block(pcapng, n, &type, &length)) == 1) {
                got = take_block(pcapng, n, type, pcapng->block, length, ret);
                if (got != 0)
                        return got;
        }
        return got;
}

int capture_open(FILE *file, const char *name, const struct log *log, struct capture **ret)
{
        char reason[PCAP_ERRBUF_SIZE];
        struct capture *capture = calloc(1, sizeof(*capture));
        const char *type;

        if (!capture)
                return -ENOMEM;
        *capture = (struct capture){ .name = name, .log = log };
        if (pcapng_is(file)) {
                capture->file = file;
                *ret = capture;
                return pcapng_new(file, name, log, &capture->pcapng) < 0 ? (capture_close(capture), -ENOMEM) : 0;
        }
        capture->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
        if (!capture->pcap) {
                log_error(log, "%s cannot be read: %s", name, reason_of(file, reason));
                fclose(file);
                free(capture);
                return -EINVAL;
        }
        if (capture_link(pcap_datalink(capture->pcap), &capture->link) < 0) {
                type = pcap_datalink_val_to_name(pcap_datalink(capture->pcap));
                log_error(log,
                          "%s was captured on a link of type %d (%s); only Ethernet, IP, loopback and "
                          "tcpdump -i any are known",
                          name, pcap_datalink(capture->pcap), type ? type : "?");
                capture_close(capture);
                return -EPROTONOSUPPORT;
        }
        *ret = capture;
        return 0;
}

bool capture_is_ordered(const struct capture *capture)
{
        return !capture->pcapng;
}

bool capture_may_tell(const struct capture *capture)
{
        return capture->pcapng || capture->link == CAPTURE_COOKED || capture->link == CAPTURE_COOKED_2;
}

/* False after a sentence. */
static bool is_possible(const struct capture *capture, uint32_t length, size_t kept)
{
        if (length <= LENGTH_MAX && kept <= length)
                return true;
        log_error(capture->log, "%s is damaged: packet %zu has a time or a length that is not possible",
                  capture->name, capture->n);
        return false;
}

int capture_next(struct capture *capture, struct captured *ret)
{
        struct pcap_pkthdr *header;
        const uint8_t *bytes;
        int64_t seconds;
        int got;

        if (capture->pcapng) {
                got = pcapng_next(capture->pcapng, capture->n, ret);
                capture->n += got == 1;
                return got == 1 && !is_possible(capture, ret->length, ret->kept) ? -EINVAL : got;
        }
        got = pcap_next_ex(capture->pcap, &header, &bytes);
        if (got == PCAP_ERROR_BREAK)
                return 0;
        capture->n++;
        if (got != 1) {
                log_error(capture->log, "%s cannot be read from packet %zu on: %s", capture->name, capture->n,
                          reason_of(pcap_file(capture->pcap), pcap_geterr(capture->pcap)));
                return -EINVAL;
        }
        seconds = header->ts.tv_sec < 0 ? header->ts.tv_sec + (INT64_C(1) << 32)
                                        : header->ts.tv_sec; /* 32 bits without a sign */
        if (seconds < 0 || seconds >= CAPTURE_SECONDS_MAX || header->ts.tv_usec < 0 ||
            header->ts.tv_usec >= (long)NS_PER_S) {
                log_error(capture->log, "%s is damaged: packet %zu has a time or a length that is not "
                                        "possible", capture->name,
                          capture->n);
                return -EINVAL;
        }
        if (!is_possible(capture, header->len, header->caplen))
                return -EINVAL;
        *ret = (struct captured){ seconds * (int64_t)NS_PER_S + header->ts.tv_usec, header->len, header->caplen,
                                  bytes, capture->link };
        return 1;
}

void capture_close(struct capture *capture)
{
        if (!capture)
                return;
        if (capture->pcap)
                pcap_close(capture->pcap);
        pcapng_free(capture->pcapng);
        if (capture->file)
                fclose(capture->file);
        free(capture);
}

void capture_closep(struct capture **capture)
{
        capture_close(*capture);
}

struct capture_writer {
        pcap_t *pcap;
        pcap_dumper_t *dumper;
        char *bytes;
        size_t length, kept_max;
};

int capture_writer_new(size_t kept_max, struct capture_writer **ret)
{
        struct capture_writer *writer = calloc(1, sizeof(*writer));
        FILE *stream;

        if (!writer)
                return -ENOMEM;
        writer->kept_max = kept_max;
        stream = open_memstream(&writer->bytes, &writer->length);
        writer->pcap = pcap_open_dead_with_tstamp_precision(DLT_RAW, (int)kept_max, PCAP_TSTAMP_PRECISION_NANO);
        writer->dumper = stream && writer->pcap ? pcap_dump_fopen(writer->pcap, stream) : NULL;
        if (writer->dumper) {
                *ret = writer;
                return 0;
        }
        if (stream)
                fclose(stream);
        if (writer->pcap)
                pcap_close(writer->pcap);
        free(writer->bytes);
        free(writer);
        return -ENOMEM;
}

void capture_writer_add(struct capture_writer *writer, const struct captured *packet)
{
        const struct pcap_pkthdr header = {
                /* Nanoseconds, as in the file. */
                .ts = { packet->time_ns / (int64_t)NS_PER_S, packet->time_ns % (int64_t)NS_PER_S },
                .caplen = (uint32_t)MIN(packet->kept, writer->kept_max), .len = packet->length,
        };

        pcap_dump((uint8_t *)writer->dumper, &header, packet->bytes);
}

int capture_writer_end(struct capture_writer *writer, char **ret, size_t *ret_length)
{
        int err = pcap_dump_flush(writer->dumper) < 0 || ferror(pcap_dump_file(writer->dumper)) ? -ENOMEM : 0;

        pcap_dump_close(writer->dumper);
        pcap_close(writer->pcap);
        if (err)
                free(writer->bytes);
        else {
                *ret = writer->bytes;
                *ret_length = writer->length;
        }
        free(writer);
        return err;
}
