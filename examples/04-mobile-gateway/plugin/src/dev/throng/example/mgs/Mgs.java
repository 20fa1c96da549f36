package dev.throng.example.mgs;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs and encrypts calls to a mobile gateway for scripts of a JMeter plan, as plug-ins do that testers write for one gateway:
 * MD5 with the secret before the content, a fresh AES-128 key for each body under the gateway's RSA key, gzip, an envelope.
 *
 * <p>A sample. A real gateway's settings come from its owner.
 */
public final class Mgs {
    private static final char[] DIGITS =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/".toCharArray();
    private static final IvParameterSpec IV = new IvParameterSpec(new byte[16]);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Map<String, PublicKey> KEYS = new LinkedHashMap<>();
    private static final Map<String, Sealed> CACHE = new LinkedHashMap<>(16, 0.75f, true);

    private Mgs() {}

    /** Returns the current time stamp: milliseconds since 1970 in base-64 digits. */
    public static String time() {
        StringBuilder digits = new StringBuilder();
        for (long rest = System.currentTimeMillis(); rest > 0; rest >>>= 6) {
            digits.append(DIGITS[(int) (rest & 63)]);
        }
        return digits.reverse().toString();
    }

    /** Returns the signature of a body that is not encrypted yet. */
    public static String sign(String secret, String operation, String body, String time)
            throws GeneralSecurityException {
        String data = Base64.getEncoder().encodeToString(body.getBytes(StandardCharsets.UTF_8));
        String content = "Operation-Type=" + operation + "&Request-Data=" + data + "&Ts=" + time;
        byte[] digest = MessageDigest.getInstance("MD5")
                .digest((secret + "&" + content).getBytes(StandardCharsets.UTF_8));
        StringBuilder hex = new StringBuilder();
        for (byte one : digest) {
            hex.append(String.format("%02x", one));
        }
        return hex.toString();
    }

    /** Encrypts a body with a new key. {@code publicKey}: the gateway's key, the Base64 of its PEM without line ends. */
    public static Sealed encrypt(String publicKey, String body)
            throws GeneralSecurityException, IOException {
        byte[] secret = new byte[16];
        RANDOM.nextBytes(secret);
        SecretKeySpec key = new SecretKeySpec(secret, "AES");
        Cipher rsa = Cipher.getInstance("RSA/ECB/PKCS1Padding");
        rsa.init(Cipher.ENCRYPT_MODE, key(publicKey));
        Cipher aes = Cipher.getInstance("AES/CBC/PKCS5Padding");
        aes.init(Cipher.ENCRYPT_MODE, key, IV);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(body.getBytes(StandardCharsets.UTF_8));
        }
        ByteArrayOutputStream envelope = new ByteArrayOutputStream();
        append(envelope, 0x01, rsa.doFinal(secret));
        append(envelope, 0x0f, aes.doFinal(packed.toByteArray()));
        return new Sealed(envelope.toByteArray(), key);
    }

    /** Like {@link #encrypt}, but reuses the result for a recent body; {@code most} bodies are kept. */
    public static Sealed cached(String publicKey, String body, int most)
            throws GeneralSecurityException, IOException {
        String name = publicKey + body;
        synchronized (CACHE) {
            Sealed known = CACHE.get(name);
            if (known != null) {
                return known;
            }
        }
        Sealed sealed = encrypt(publicKey, body);
        synchronized (CACHE) {
            CACHE.put(name, sealed);
            while (CACHE.size() > most) {
                CACHE.remove(CACHE.keySet().iterator().next());
            }
        }
        return sealed;
    }

    private static void append(ByteArrayOutputStream envelope, int tag, byte[] value) {
        envelope.write(tag);
        envelope.write(value.length >> 16);
        envelope.write(value.length >> 8);
        envelope.write(value.length);
        envelope.writeBytes(value);
    }

    private static PublicKey key(String text) throws GeneralSecurityException {
        synchronized (KEYS) {
            PublicKey key = KEYS.get(text);
            if (key == null) {
                byte[] bytes = Base64.getDecoder().decode(text);
                key = KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(bytes));
                KEYS.put(text, key);
            }
            return key;
        }
    }

    /** An encrypted body, and the key with which its response is encrypted. */
    public static final class Sealed {
        private final byte[] body;
        private final SecretKeySpec key;

        Sealed(byte[] body, SecretKeySpec key) {
            this.body = body;
            this.key = key;
        }

        /** Returns the bytes to send, one per character, as a request with the encoding ISO-8859-1 sends them. */
        public String text() {
            return new String(body, StandardCharsets.ISO_8859_1);
        }

        /** Decrypts the response. */
        public byte[] open(byte[] answer) throws GeneralSecurityException, IOException {
            Cipher aes = Cipher.getInstance("AES/CBC/PKCS5Padding");
            aes.init(Cipher.DECRYPT_MODE, key, IV);
            try (GZIPInputStream gzip =
                    new GZIPInputStream(new ByteArrayInputStream(aes.doFinal(answer)))) {
                return gzip.readAllBytes();
            }
        }
    }
}
