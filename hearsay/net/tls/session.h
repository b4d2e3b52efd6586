#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hearsay/net/bye.h"
#include "hearsay/net/frame.h"
#include "hearsay/net/hello.h"
#include "hearsay/net/tls/asio.h"
#include "hearsay/net/tls/context.h"
#include "hearsay/net/tls/outbox.h"

namespace hearsay::net {

/// One connection, from the handshake to the last byte. It knows the order of frames (HELLO first,
/// once), the limits of time and size, and how to say goodbye; what follows from frames is its
/// owner's business. All calls, and those of its owner, happen on the io thread, except on
/// `outbox`. It keeps itself alive until `gone`.
///
///   handshake --proven--> open --greeted--> frames --ended, finish--> goodbye --> gone
///
/// Limits: kSecondsToHello from the start to the other's HELLO; a frame that has begun takes at
/// most kSecondsToHello and a second for each kBytesASecond bytes; a goodbye kGoodbyeSeconds.
class Session : public std::enable_shared_from_this<Session> {
 public:
  static constexpr double kSecondsToHello = 5, kBytesASecond = 64e3, kGoodbyeSeconds = 2;

  /// Called from within `tick` and handlers of the io context; `gone` also from within `finish` and
  /// `abandon`.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Whether the connection may be with the owner of that key. Must not throw.
    virtual bool admits(Session& session, const Id& id) = 0;
    /// The other owns the key of `other()`.
    virtual void proven(Session& session) = 0;
    virtual void greeted(Session& session, const Hello& hello) = 0;
    /// After `greeted`: any frame but HELLO and BYE. May throw CorruptData, which ends it.
    virtual void frame(Session& session, const Frame& frame) = 0;
    /// After `greeted`: more of a frame that is not whole yet.
    virtual void more_of_a_frame(Session& session) = 0;
    /// The outbox had no room for a frame, and has it now.
    virtual void room(Session& session) = 0;
    /// It ends by itself; nothing but `gone` follows. Not called after `finish` or `abandon`.
    virtual void ended(Session& session, const std::string& why) = 0;
    /// Its socket is closed.
    virtual void gone(Session& session) = 0;
  };

  struct Parts {
    asio::ip::tcp::socket socket;  ///< connected
    const TlsContext& context;
    FrameLimits limits{};
    Owner& owner;
    std::optional<std::uint32_t> peer{};  ///< whom it was dialled for; empty: it was accepted
    std::shared_ptr<void> ticket{};       ///< of Admission
    std::uint64_t born = 0;               ///< for the owner: orders events
  };
  explicit Session(Parts parts);
  ~Session();

  void start();

  bool dialled() const { return dialled_; }
  std::uint64_t born() const { return parts_.born; }
  const Id& other() const { return other_; }  ///< after `proven`
  /// The slot of the other, if known.
  const std::optional<std::uint32_t>& peer() const { return parts_.peer; }
  void set_peer(std::uint32_t peer) { parts_.peer = peer; }
  /// Why the other says that it closes it.
  const std::optional<ByeReason>& farewell() const { return farewell_; }
  const std::string& remote() const { return remote_; }  ///< "10.0.0.9", for people

  /// Frames put in are sent from `open` on. Valid as long as somebody holds it.
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  /// There are new frames in the outbox.
  void wake();

  /// Send HELLO, once, after `proven`.
  void greet(const Hello& hello);
  /// The other's HELLO was accepted: send what is in the outbox. It is no longer counted as one
  /// that waits for HELLO.
  void open();
  /// Say goodbye, if it is open, and close: what is in the outbox is sent before, if `flush`, else
  /// only what has begun.
  void finish(const Bye& bye, bool flush);
  /// Close the socket.
  void abandon();

  /// So many seconds have passed in which the io thread could work.
  void tick(double seconds);

 private:
  enum class Phase { kHandshake, kOpen, kGoodbye, kGone };
  static constexpr double kNever = -1;

  void ready();
  void again();
  void await_readable();
  void await_writable();

  void shake();
  void read();
  void take_in(ByteView piece);
  void heard(const Frame& frame);
  void reading_stopped(int result);
  void discard_input();

  void write();
  bool next_chunk();
  void count_sent();
  void say_goodbye();

  /// Tells the owner; `politely`: the other may read what was sent before the socket is closed.
  void end(const std::string& why, bool politely = false);
  void end_corrupt(const std::string& why);

  Parts parts_;
  const bool dialled_;
  std::string remote_;
  Id other_{};
  AdmitsKey admits_;
  std::string stranger_;  ///< the key that was not admitted
  SslOwner ssl_;
  Phase phase_ = Phase::kHandshake;
  bool reading_ = false, writing_ = false;  ///< waits for the socket
  bool posted_ = false;                     ///< `ready` will be called
  bool tls_failed_ = false;                 ///< nothing can be sent any more
  double age_ = 0, goodbye_age_ = 0;
  double frame_age_ = kNever;  ///< of the frame of which a part has arrived

  FrameReader reader_;
  bool greeted_ = false;
  std::optional<ByeReason> farewell_;

  std::shared_ptr<Outbox> outbox_;
  Outbox::Chunk chunk_;
  std::size_t sent_ = 0, counted_ = 0;  ///< of chunk_
  Bytes hello_, bye_;                   ///< to be sent before and after the outbox
  bool flowing_ = false;                ///< the outbox is sent
  bool shut_ = false;                   ///< nothing more is sent
};

}  // namespace hearsay::net
